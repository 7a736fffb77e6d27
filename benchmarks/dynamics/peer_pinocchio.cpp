// Pinocchio: the articulated body algorithm of its header library, called in a loop in C++.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/multibody.hpp>

namespace pin = pinocchio;
using Vector = Eigen::VectorXd;

// The file: rounds and gravity; then for each tree its name, number of bodies, q, u and a line for each body.
int main(int, char** argv) {
    std::ifstream file(argv[1]);
    int rounds;
    Eigen::Vector3d g;
    file >> rounds >> g[0] >> g[1] >> g[2];
    std::string name;
    std::cout.precision(17);
    std::cout << "{\"version\": \"" << PINOCCHIO_VERSION << "\", \"trees\": {";
    bool first = true;
    while (file >> name) {
        int n;
        double q0, u0;
        file >> n >> q0 >> u0;
        pin::Model model;
        model.gravity.linear() = g;
        std::vector<pin::JointIndex> made;
        std::vector<bool> hinge;
        for (int i = 0; i < n; ++i) {
            int parent, is_pin;
            double m;
            Eigen::Vector3d axis, p, c, I;
            file >> parent >> is_pin >> axis[0] >> axis[1] >> axis[2] >> p[0] >> p[1] >> p[2] >> m >> c[0] >> c[1]
                >> c[2] >> I[0] >> I[1] >> I[2];
            pin::SE3 at(Eigen::Matrix3d::Identity(), p);
            auto carrier = parent < 0 ? pin::JointIndex(0) : made[parent];
            std::string id = "j" + std::to_string(i);
            pin::JointModel joint = pin::JointModelFreeFlyer();
            if (is_pin && axis[0] == 1.0) joint = pin::JointModelRX();
            if (is_pin && axis[1] == 1.0) joint = pin::JointModelRY();
            if (is_pin && axis[2] == 1.0) joint = pin::JointModelRZ();
            made.push_back(model.addJoint(carrier, joint, at, id));
            hinge.push_back(is_pin);
            model.appendBodyToJoint(made[i], pin::Inertia(m, c, I.asDiagonal()));
        }
        pin::Data data(model);
        Vector q = pin::neutral(model), v = Vector::Zero(model.nv), tau = Vector::Zero(model.nv);
        for (int i = 0; i < n; ++i)
            if (hinge[i]) {
                q[model.idx_qs[made[i]]] = q0;
                v[model.idx_vs[made[i]]] = u0;
            }
        int count = std::max(50, 200000 / (1 + n));
        double best = 1e9;
        for (int round = 0; round < rounds; ++round) {
            auto start = std::chrono::steady_clock::now();
            for (int i = 0; i < count; ++i) pin::aba(model, data, q, v, tau, pin::Convention::WORLD);
            std::chrono::duration<double> world = std::chrono::steady_clock::now() - start;
            start = std::chrono::steady_clock::now();
            for (int i = 0; i < count; ++i) pin::aba(model, data, q, v, tau, pin::Convention::LOCAL);
            std::chrono::duration<double> local = std::chrono::steady_clock::now() - start;
            best = std::min(best, std::min(world.count(), local.count()) / count);
        }
        if (!first) std::cout << ", ";
        first = false;
        for (auto& letter : name) letter = letter == '_' ? ' ' : letter;
        std::cout << '"' << name << "\": {\"seconds\": " << best << ", \"udot\": [";
        bool comma = false;
        for (int i = 0; i < n; ++i)
            if (hinge[i]) {
                std::cout << (comma ? ", " : "") << data.ddq[model.idx_vs[made[i]]];
                comma = true;
            }
        std::cout << "]}";
    }
    std::cout << "}}" << std::endl;
}
