// What a scene must obey beyond the values of its keys: names that are free, bodies that can move, axes that fit, what a plane
// forbids. The reader calls each check where the thing was read, with its places in the file; validate_scene() and
// check_edit() call them for what a program made.
#pragma once

#include "scene/fields.hpp"

namespace stickslip {

// Throws Error if the body, joint or drive of the edit could not stand in a scene file. Whether it can be made now is for
// Standing and Builder to tell.
void check_edit(const Scene& scene, const Edit& edit);

// How messages name things: "revolute joint 'j'", "'angle' of cylindrical joint 'j'", "torsion spring 's'".
std::string what_of(const Scene::Joint& joint);
std::string what_of(const Scene::Joint& joint, int coordinate);
std::string what_of_force(const std::string& map, const std::string& name);

// Their maps in the listing.
const SceneMap& map_of(const Scene::Joint& joint);
const SceneMap& map_of(Edit::Kind kind);
const std::vector<std::string>& edit_verbs();  // in the order of Edit::Kind
const ShapeKind& known_shape_kind(const Scene::Shape& shape);
const SceneFields& common_keys_of_shapes();

// Each check takes the scene with everything the thing may name.
void check_things(const YamlNode& node, const char* what);  // the section is a map
void check_body_name(const std::string& name, const Place& place);
void check_pair(const Scene& scene, std::size_t pair);
std::string wrong_with_facets(int facets);  // "" if nothing is
void check_shape(const Scene& scene, const Scene::Body& body, const Scene::Shape& shape, const Where& at);
void check_body(const Scene& scene, const Scene::Body& body, const Where& at);
void check_kind_in_plane(const Scene& scene, const Scene::Joint& joint);
void check_joint(const Scene& scene, const Scene::Joint& joint, int end, const Where& at);  // `end`: joints before it
void check_drive(const Scene::Joint& joint, const Scene::Drive& drive, const Where& at);
void check_force(const Scene& scene, const Scene::Spring& spring, const Where& at);
void check_force(const Scene& scene, const Scene::TorsionSpring& spring, const Where& at);
void check_force(const Scene& scene, const Scene::Bushing& bushing, const Where& at);
void check_force(const Scene& scene, const Scene::Drag& drag, const Where& at);
void check_force(const Scene& scene, const Scene::Load& load, const Where& at);
void check_forces(const Scene& scene);  // all of a scene that a program made
void check_placement(const Scene& scene, const Edit& edit, const Where& at);
bool changes_drive(const Edit& edit);
// Goes through the actions in their order: each must be possible when its time comes.
void walk_actions(const Scene& scene);

}  // namespace stickslip
