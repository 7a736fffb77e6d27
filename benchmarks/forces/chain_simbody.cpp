// The bushing chain in Simbody: realize to Acceleration after every change of a coordinate.
#include <Simbody.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace SimTK;

// The numbers behind a key of a flat JSON object.
static std::vector<double> numbers(const char* text, const char* key) {
    std::vector<double> found;
    std::string quoted = std::string("\"") + key + "\":";
    const char* at = std::strstr(text, quoted.c_str());
    if (at == nullptr) std::abort();
    at += quoted.size();
    while (*at == ' ' || *at == '[') ++at;
    while (true) {
        char* end;
        double value = std::strtod(at, &end);
        if (end == at) break;
        found.push_back(value);
        at = end;
        while (*at == ' ' || *at == ',') ++at;
        if (*at == ']' || *at == '"' || *at == '}') break;
    }
    return found;
}

static Vec3 vec3(const std::vector<double>& v) { return Vec3(v[0], v[1], v[2]); }

int main(int, char** arguments) {
    const char* text = arguments[1];
    const int bodies = int(numbers(text, "bodies")[0]), rounds = int(numbers(text, "rounds")[0]);
    const Vec3 center = vec3(numbers(text, "center_of_mass")), moments = vec3(numbers(text, "inertia"));
    const Vec3 above = vec3(numbers(text, "above")), below = vec3(numbers(text, "below"));
    const double mass = numbers(text, "mass")[0], gap = numbers(text, "gap")[0];
    const auto k = numbers(text, "stiffness"), c = numbers(text, "damping");
    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    GeneralForceSubsystem forces(system);
    Force::UniformGravity gravity(forces, matter, Vec3(0, 0, -9.81));
    const Inertia inertia = Inertia(moments[0], moments[1], moments[2]).shiftFromMassCenter(-center, mass);
    Body::Rigid properties(MassProperties(mass, center, inertia));
    std::vector<MobilizedBody::Free> links;
    for (int i = 0; i < bodies; ++i) {
        links.emplace_back(matter.Ground(), Transform(), properties, Transform());
        MobilizedBody up = i == 0 ? MobilizedBody(matter.Ground()) : MobilizedBody(links[i - 1]);
        Force::LinearBushing(forces, up, Transform(below), links[i], Transform(above),
                             Vec6(k[0], k[1], k[2], k[3], k[4], k[5]), Vec6(c[0], c[1], c[2], c[3], c[4], c[5]));
    }
    State state = system.realizeTopology();
    system.realizeModel(state);
    for (int i = 0; i < bodies; ++i) {
        const double half = 0.01 * (i % 5);
        links[i].setQ(state, Vec7(std::cos(half), std::sin(half), 0, 0, 0, 0, -(0.5 + gap) * (i + 1)));
    }
    system.realize(state, Stage::Acceleration);
    const double acceleration = links.back().getBodyOriginAcceleration(state)[2];
    const int count = std::max(10, 1000 / bodies);
    double best = 1e9;
    for (int round = 0; round < 10 * rounds; ++round) {  // short and many: the best one was not disturbed
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < count; ++i) {
            state.updQ();
            system.realize(state, Stage::Acceleration);
        }
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
        best = std::min(best, spent.count() / count);
    }
    std::printf("{\"seconds\": %.9g, \"acceleration\": %.17g}\n", best, acceleration);
    return 0;
}
