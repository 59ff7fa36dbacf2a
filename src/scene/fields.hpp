// What follows from the listing for the members of one struct: reading them out of a map, judging them in a struct that a program
// made, writing them.
#pragma once

#include "scene/listing.hpp"
#include "scene/reader.hpp"

namespace stickslip {

// Reads the keys of the map that fill members of T. Formulas must be finite at t [s].
void read_members(const MapReader& map, const SceneFields& fields, const Scene& scene, double t,
                  const std::type_info& owner, void* object);
template <class T>
void read_fields(const MapReader& map, const Scene& scene, T& object, double t = 0) {
    read_members(map, map.listed().fields, scene, t, typeid(T), &object);
}

// Throws Error unless every member of T is what its key may be: signs, finite numbers, names that exist, required keys, and the
// rules as far as a struct can tell what was given. `what` names the thing in messages: "body 'arm'".
void check_members(const SceneFields& fields, const Scene& scene, const std::string& what, const Place& place,
                   const std::type_info& owner, const void* object);
void check_rules(const SceneMap& map, const std::string& what, const Place& place, const std::type_info& owner,
                 const void* object);
template <class T>
void check_fields(const SceneMap& map, const Scene& scene, const std::string& what, const Place& place,
                  const T& object) {
    check_members(map.fields, scene, what, place, typeid(T), &object);
    check_rules(map, what, place, typeid(T), &object);
}

// Adds to `out` the members of T that differ from a default T or must be there, in the order of the listing.
void write_members(const SceneFields& fields, const std::type_info& owner, const void* object, const void* defaults,
                   YamlNode& out);
void write_needed(const SceneMap& map, const std::type_info& owner, const void* object, YamlNode& out);
template <class T>
void write_fields(const SceneMap& map, const T& object, YamlNode& out) {
    const T defaults{};
    write_members(map.fields, typeid(T), &object, &defaults, out);
    write_needed(map, typeid(T), &object, out);
}

// Nodes of a tree to be written.
YamlNode scalar(std::string text);
YamlNode number_node(double x);
YamlNode empty_map();
void put(YamlNode& map, std::string key, YamlNode value);

// Where a thing stands: its name in messages and, if it comes from a file, the places of its keys. Members stand for their keys,
// so that a check names the member it is about.
class Where {
public:
    // `place` is that of the thing, if known; `file` the map it was read from, if it was.
    template <class T>
    Where(std::string what, Place place, const SceneMap& map, const T& object, const MapReader* file = nullptr)
        : what_(std::move(what)),
          place_(std::move(place)),
          map_(map),
          owner_(typeid(T)),
          object_(&object),
          file_(file) {}
    template <class T>
    Where(const MapReader& file, Place place, const T& object)
        : Where(file.what(), std::move(place), file.listed(), object, &file) {}

    const std::string& what() const { return what_; }
    const Place& place() const { return place_; }
    const char* name(const void* member) const;  // its key; null if this map has no key for it
    bool gives(const void* member) const;        // whether the file has it
    Place key(const void* member) const;         // of the key; unknown if no file gives it
    Place value(const void* member) const;       // of the value
    // The error at this place of a file; where there is none, it is one about `what`.
    Error error(const std::string& message, const Place& at) const;
    Error error(const std::string& message) const { return error(message, place_); }

private:
    std::string what_;
    Place place_;
    const SceneMap& map_;
    const std::type_info& owner_;
    const void* object_;
    const MapReader* file_;
};

}  // namespace stickslip
