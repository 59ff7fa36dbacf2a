#include "scene/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace stickslip {

namespace {

bool belongs_to(const SceneField& field, const std::type_info& owner) {
    return field.member.owner && *field.member.owner == owner;
}

Slot slot_of(const SceneField& field, const void* object) { return field.member.slot(const_cast<void*>(object)); }

std::vector<std::string> words_of_choice(const SceneField& field) {
    std::vector<std::string> words(1);
    for (const char c : field.of) {
        if (c == '|')
            words.emplace_back();
        else
            words.back() += c;
    }
    return words;
}

// A value of YAML into a member, by the type of the member and the form of the key.
struct ReadInto {
    const SceneField& field;
    const YamlNode& node;
    const Scene& scene;
    double t;
    ValueReader values;

    double number() const {
        switch (field.form) {
            case Form::positive: return values.positive(node, field.unit.c_str());
            case Form::not_negative: return values.not_negative(node, field.unit.c_str());
            case Form::fraction: return values.fraction(node);
            case Form::bound: return values.bound(node);
            case Form::not_zero: return values.not_zero(node, field.key.c_str());
            case Form::whole: return values.whole(node);
            default: return values.number(node);
        }
    }
    Vec3 vector() const {
        if (field.form == Form::direction) return values.direction(node, field.key.c_str());
        const Vec3 x = values.vector(node);
        if (field.form == Form::positives)
            for (const YamlNode& child : node.children) values.positive(child, field.unit.c_str());
        return x;
    }
    void operator()(bool* x) const { *x = values.truth(node); }
    void operator()(double* x) const { *x = number(); }
    void operator()(std::optional<double>* x) const { *x = number(); }
    void operator()(Vec3* x) const { *x = vector(); }
    void operator()(std::optional<Vec3>* x) const { *x = vector(); }
    void operator()(Vec6* x) const { *x = values.six(node); }
    void operator()(Pose* x) const { *x = values.pose(node); }
    void operator()(std::optional<Pose>* x) const { *x = values.pose(node); }
    void operator()(std::optional<Mat3>* x) const { *x = values.inertia(node); }
    void operator()(Scene::Name* x) const {
        const char* expected = field.form == Form::body    ? "the name of a body"
                               : field.form == Form::joint ? "the name of a joint"
                                                           : "the name of a material";
        *x = {values.word(node, expected), node.place()};
        if (field.form == Form::body) body_index(scene, *x);
        if (field.form == Form::joint) joint_index(scene, *x);
        if (field.form == Form::material) material_index(scene, *x);
    }
    void operator()(Scene::Formula* x) const { *x = values.formula_at(node, t); }
    void operator()(std::optional<Scene::Formula>* x) const { *x = values.formula_at(node, t); }
    void operator()(Formulas* x) const {
        if (node.kind != YamlNode::Kind::list || node.children.size() != 3)
            throw Error(fmt::format("expected 3 numbers or formulas of t, like [\"8*cos(t)\", 0, 0], found {}",
                                    node.describe()),
                        node.place());
        for (std::size_t k = 0; k < 3; ++k) (*x)[k] = values.formula_at(node.children[k], t);
    }
    void operator()(std::vector<Scene::Load::Row>* rows) const {
        if (node.kind != YamlNode::Kind::list || node.children.empty())
            throw Error(fmt::format("expected rows [[t, fx, fy, fz], ...], found {}", node.describe()), node.place());
        for (const YamlNode& item : node.children) {
            const std::vector<double> x = values.numbers(item, {4}, "a row [t, fx, fy, fz]");
            if (!rows->empty() && x[0] <= rows->back().t)
                throw Error(fmt::format("times must increase: {} after {}", x[0], rows->back().t), item.place());
            rows->push_back({x[0], Vec3(x[1], x[2], x[3])});
        }
    }
    void operator()(std::vector<Vec3>* points) const {
        if (node.kind != YamlNode::Kind::list)
            throw Error(fmt::format("expected points [[x, y, z], ...] of the curve, found {}", node.describe()),
                        node.place());
        for (const YamlNode& point : node.children) points->push_back(values.vector(point));
    }
    void operator()(const EnumSlot& x) const {
        x.set(x.value, x.first + values.choice(node, field.key.c_str(), words_of_choice(field)));
    }
};

// A member that a program filled. Complaints are "WHAT: KEY: expected ..., found ...".
struct CheckMember {
    const SceneField& field;
    const Scene& scene;
    const std::string& what;
    const Place& place;

    [[noreturn]] void refuse(const std::string& message) const {
        throw Error(fmt::format("{}: {}: {}", what, field.key, message), place);
    }
    void number(double x) const {
        const auto demand = [&](bool fine, const std::string& expected) {
            if (!fine) refuse(fmt::format("expected {}, found {}", expected, x));
        };
        const std::string unit = field.unit.empty() ? "" : fmt::format(" [{}]", field.unit);
        switch (field.form) {
            case Form::positive: return demand(x > 0 && std::isfinite(x), "a number > 0" + unit);
            case Form::not_negative: return demand(x >= 0 && std::isfinite(x), "a number >= 0" + unit);
            case Form::fraction: return demand(x >= 0 && x <= 1, "a number from 0 to 1");
            case Form::bound: return demand(!std::isnan(x), "a number" + unit);
            case Form::not_zero: return demand(x != 0 && std::isfinite(x), "a finite number other than zero" + unit);
            case Form::whole: return demand(x == std::floor(x) && std::abs(x) <= 1e9, "a whole number" + unit);
            default: return demand(std::isfinite(x), "a finite number" + unit);
        }
    }
    void vector(const Vec3& x) const {
        if (!x.allFinite()) refuse("expected three finite numbers");
        if (field.form == Form::positives && !(x.array() > 0).all()) refuse("expected three numbers > 0");
        if (field.form == Form::direction && !(std::abs(x.norm() - 1) < 1e-9))
            refuse(fmt::format("expected a unit vector, found one of length {}", x.norm()));
    }
    void formula(const Scene::Formula& formula) const {
        if (formula.value && depends_on_time(formula.text))
            refuse(fmt::format("the formula '{}' depends on t, but has the value {}: leave `value` out", formula.text,
                               *formula.value));
        if (formula.value && !std::isfinite(*formula.value)) refuse("expected a finite number");
        if (formula.value) return;
        try {
            compile_formula(formula);
        } catch (const Error& e) {
            if (!formula.place.file.empty()) throw;
            refuse(e.what());
        }
    }
    void operator()(const bool*) const {}
    void operator()(const double* x) const {
        // Times that were not given.
        if (field.form == Form::number && std::isinf(*x) && field.without == "always") return;
        number(*x);
    }
    void operator()(const std::optional<double>* x) const {
        if (*x) number(**x);
    }
    void operator()(const Vec3* x) const { vector(*x); }
    void operator()(const std::optional<Vec3>* x) const {
        if (*x) vector(**x);
    }
    void operator()(const Vec6* x) const {
        if (!x->allFinite() || !(x->array() >= 0).all()) refuse("expected six numbers >= 0");
    }
    void operator()(const Pose* x) const {
        if (!x->position.allFinite() || !(std::abs(x->attitude.norm() - 1) < 1e-6))
            refuse("expected a finite pose with a unit quaternion");
    }
    void operator()(const std::optional<Pose>* x) const {
        if (*x) (*this)(&**x);
    }
    void operator()(const std::optional<Mat3>* x) const {
        if (!*x) return;
        if (!(**x).allFinite() || !(**x).isApprox((**x).transpose())) refuse("expected a finite symmetric matrix");
        if (const std::string wrong = wrong_with_inertia(**x); !wrong.empty()) refuse(wrong);
    }
    void operator()(const Scene::Name* x) const {
        if (x->text.empty()) refuse("a name is needed");
        try {
            if (field.form == Form::body) body_index(scene, *x);
            if (field.form == Form::joint) joint_index(scene, *x);
            if (field.form == Form::material && x->text != default_material) material_index(scene, *x);
        } catch (const Error& e) {
            if (!x->place.file.empty()) throw;
            refuse(e.what());
        }
    }
    void operator()(const Scene::Formula* x) const { formula(*x); }
    void operator()(const std::optional<Scene::Formula>* x) const {
        if (*x) formula(**x);
    }
    void operator()(const Formulas* x) const {
        for (const Scene::Formula& component : *x) formula(component);
    }
    void operator()(const std::vector<Scene::Load::Row>* rows) const {
        for (std::size_t i = 0; i < rows->size(); ++i) {
            const Scene::Load::Row& row = (*rows)[i];
            if (!std::isfinite(row.t) || !row.force.allFinite()) refuse("expected finite numbers");
            if (i > 0 && row.t <= (*rows)[i - 1].t)
                refuse(fmt::format("times must increase: {} after {}", row.t, (*rows)[i - 1].t));
        }
    }
    void operator()(const std::vector<Vec3>* points) const {
        for (const Vec3& point : *points)
            if (!point.allFinite()) refuse("expected finite points");
    }
    void operator()(const EnumSlot& x) const {
        const int i = x.get(x.value);
        if (i < 0 || i - x.first >= std::ssize(words_of_choice(field))) refuse(fmt::format("expected {}", field.of));
    }
};

YamlNode numbers_node(const double* x, int size) {
    YamlNode node;
    node.kind = YamlNode::Kind::list;
    for (int i = 0; i < size; ++i) node.children.push_back(number_node(x[i]));
    return node;
}
YamlNode list_node() {
    YamlNode node;
    node.kind = YamlNode::Kind::list;
    return node;
}

// A member as YAML; nothing if it was not given.
struct Written {
    const SceneField& field;
    using Node = std::optional<YamlNode>;

    static Node vector(const Vec3& x) { return numbers_node(x.data(), 3); }
    Node operator()(const bool* x) const { return scalar(*x ? "true" : "false"); }
    Node operator()(const double* x) const { return number_node(*x); }
    Node operator()(const std::optional<double>* x) const { return *x ? Node(number_node(**x)) : Node(); }
    Node operator()(const Vec3* x) const { return vector(*x); }
    Node operator()(const std::optional<Vec3>* x) const { return *x ? vector(**x) : Node(); }
    Node operator()(const Vec6* x) const { return numbers_node(x->data(), 6); }
    Node operator()(const Pose* x) const {
        const Quat& q = x->attitude;
        const double all[] = {x->position[0], x->position[1], x->position[2], q.w(), q.x(), q.y(), q.z()};
        return numbers_node(all, q.coeffs() == Quat::Identity().coeffs() ? 3 : 7);
    }
    Node operator()(const std::optional<Pose>* x) const { return *x ? (*this)(&**x) : Node(); }
    Node operator()(const std::optional<Mat3>* x) const {
        if (!*x) return {};
        const Mat3& J = **x;
        const double all[] = {J(0, 0), J(1, 1), J(2, 2), J(0, 1), J(0, 2), J(1, 2)};
        return numbers_node(all, all[3] == 0 && all[4] == 0 && all[5] == 0 ? 3 : 6);
    }
    Node operator()(const Scene::Name* x) const { return scalar(x->text); }
    Node operator()(const Scene::Formula* x) const { return scalar(x->text); }
    Node operator()(const std::optional<Scene::Formula>* x) const { return *x ? (*this)(&**x) : Node(); }
    Node operator()(const Formulas* x) const {
        YamlNode node = list_node();
        for (const Scene::Formula& component : *x) node.children.push_back(scalar(component.text));
        return node;
    }
    Node operator()(const std::vector<Scene::Load::Row>* rows) const {
        YamlNode node = list_node();
        for (const Scene::Load::Row& row : *rows) {
            const double all[] = {row.t, row.force[0], row.force[1], row.force[2]};
            node.children.push_back(numbers_node(all, 4));
        }
        return rows->empty() ? Node() : node;
    }
    Node operator()(const std::vector<Vec3>* points) const {
        YamlNode node = list_node();
        for (const Vec3& point : *points) node.children.push_back(*vector(point));
        return points->empty() ? Node() : node;
    }
    Node operator()(const EnumSlot& x) const {
        const int i = x.get(x.value) - x.first;
        return i < 0 ? Node() : scalar(words_of_choice(field)[i]);
    }
};

Written::Node written(const SceneField& field, const void* object) {
    return std::visit(Written{field}, slot_of(field, object));
}

bool same(const Written::Node& a, const Written::Node& b) {
    if (!a || !b) return !a && !b;
    if (a->text != b->text || a->children.size() != b->children.size()) return false;
    for (std::size_t i = 0; i < a->children.size(); ++i)
        if (!same(a->children[i], b->children[i])) return false;
    return true;
}

const void* address(const Slot& slot) {
    return std::visit(
        [](const auto& x) -> const void* {
            if constexpr (std::is_same_v<std::decay_t<decltype(x)>, EnumSlot>)
                return x.value;
            else
                return x;
        },
        slot);
}

// Whether a struct can tell that the key was not given.
std::optional<bool> given(const SceneField& field, const void* object) {
    const Slot slot = slot_of(field, object);
    if (const auto* x = std::get_if<std::optional<double>*>(&slot)) return (*x)->has_value();
    if (const auto* x = std::get_if<std::optional<Vec3>*>(&slot)) return (*x)->has_value();
    if (const auto* x = std::get_if<std::optional<Scene::Formula>*>(&slot)) return (*x)->has_value();
    if (const auto* x = std::get_if<std::vector<Scene::Load::Row>*>(&slot)) return !(*x)->empty();
    if (const auto* x = std::get_if<Formulas*>(&slot))
        return std::any_of(std::begin(**x), std::end(**x), [](const auto& f) { return !f.value || *f.value != 0; });
    return std::nullopt;
}

}  // namespace

void read_members(const MapReader& map, const SceneFields& fields, const Scene& scene, double t,
                  const std::type_info& owner, void* object) {
    for (const SceneField& field : fields) {
        if (!belongs_to(field, owner)) continue;
        const char* key = field.key.c_str();
        const YamlNode* node = field.required() ? &map.need(key) : map.find(key);
        if (!node) continue;
        std::visit(ReadInto{field, *node, scene, t, ValueReader(scene.parameters)}, field.member.slot(object));
    }
}

void check_members(const SceneFields& fields, const Scene& scene, const std::string& what, const Place& place,
                   const std::type_info& owner, const void* object) {
    for (const SceneField& field : fields)
        if (belongs_to(field, owner)) std::visit(CheckMember{field, scene, what, place}, slot_of(field, object));
}

void check_rules(const SceneMap& map, const std::string& what, const Place& place, const std::type_info& owner,
                 const void* object) {
    for (const SceneRule& rule : map.rules) {
        if (rule.for_schema) continue;
        std::vector<std::string> have;
        bool known = true;
        for (const std::string& key : rule.keys) {
            const SceneField* field = map.find(key);
            const auto is = field && belongs_to(*field, owner) ? given(*field, object) : std::nullopt;
            known &= is.has_value();
            if (is.value_or(false)) have.push_back(key);
        }
        if (!known) continue;
        if (const std::string wrong = broken(rule, have); !wrong.empty())
            throw Error(fmt::format("{} {}", what, wrong), place);
    }
}

void write_members(const SceneFields& fields, const std::type_info& owner, const void* object, const void* defaults,
                   YamlNode& out) {
    for (const SceneField& field : fields) {
        if (!belongs_to(field, owner)) continue;
        Written::Node node = written(field, object);
        if (!node || (!field.without.starts_with("required") && same(node, written(field, defaults)))) continue;
        put(out, field.key, std::move(*node));
    }
}

// A spring of stiffness 0 is written with its stiffness, since it needs one of its keys.
void write_needed(const SceneMap& map, const std::type_info& owner, const void* object, YamlNode& out) {
    for (const SceneRule& rule : map.rules) {
        if (rule.kind != SceneRule::Kind::at_least_one || rule.for_schema) continue;
        const SceneField* field = map.find(rule.keys[0]);
        if (!belongs_to(*field, owner)) continue;
        const bool has = std::any_of(rule.keys.begin(), rule.keys.end(), [&](const auto& k) { return out.find(k); });
        if (Written::Node node = written(*field, object); node && !has) put(out, field->key, std::move(*node));
    }
}

YamlNode scalar(std::string text) {
    YamlNode node;
    node.kind = YamlNode::Kind::scalar;
    node.text = std::move(text);
    return node;
}

// The shortest digits that read back to the same bits.
YamlNode number_node(double x) { return scalar(std::isinf(x) ? (x > 0 ? ".inf" : "-.inf") : fmt::format("{}", x)); }

YamlNode empty_map() {
    YamlNode node;
    node.kind = YamlNode::Kind::map;
    return node;
}

void put(YamlNode& map, std::string key, YamlNode value) { map.add(std::move(key), {}, std::move(value)); }

const char* Where::name(const void* member) const {
    for (const SceneField& field : map_.fields)
        if (belongs_to(field, owner_) && address(slot_of(field, object_)) == member) return field.key.c_str();
    return nullptr;
}

bool Where::gives(const void* member) const {
    const char* key = name(member);
    return key && file_ && file_->find(key);
}

Place Where::key(const void* member) const { return gives(member) ? file_->key_place(name(member)) : Place{}; }

Place Where::value(const void* member) const { return gives(member) ? file_->find(name(member))->place() : Place{}; }

Error Where::error(const std::string& message, const Place& at) const {
    if (!at.file.empty()) return Error(message, at);
    // What names the thing already need not be told twice.
    const bool named = message.find(what_) != std::string::npos;
    return Error(named ? message : what_ + ": " + message, place_);
}

}  // namespace stickslip
