// Coefficients of the Runge-Kutta methods between events.
//
// Explicit (acceleration form): rk4 [Kutta 1901], rkf45 [Fehlberg 1969, propagates order 4], dopri5 [Dormand & Prince 1980].
//
// Half-explicit (velocity form): stage i fixes (a_i, y_i) by M(Q_i) a_i = f + C(Q_i) y_i and the velocity form at
// R_i = q0 (+) h sum_{j<=i} abar_ij K_j:  J(R_i) (v0 + h sum_{j<=i} abar_ij a_j) = w. The last R and its velocity are the end.
// hem3, hem4, hem5 [Brasey & Hairer 1993; hem5.f, June 1994] are the case R_i = Q_{i+1}; phem56 [Murua 1997] has its own.
// hem5's numbers fulfil the order conditions to 40 digits: those in circulation (16 digits) to 4e-13 only.
//
// Misprints of [Haddouni]: (2.72) puts phem56's seventh stage at (Q_6, V_6), which costs two orders; (2.138) gives the last column
// of hem5's dense output to stage 9, it belongs to stage 10; A.3, A.6-A.8 misprint coefficients of rkf45 and dopri5.
#pragma once

#include <array>
#include <vector>

namespace stickslip {

struct ExplicitTableau {
    const char* name;
    int order;
    int error_order;  // p of step control [Haddouni s.2.2.7]
    std::vector<double> c;
    std::vector<std::vector<double>> A;  // row i has i entries
    std::vector<double> b;
    std::vector<double> embedded;  // weights of the companion; empty: none
    std::vector<double> dense;     // d of dopri5's dense output [Hairer, Norsett & Wanner, II.6]; empty: none
};

struct HalfExplicitTableau {
    const char* name;
    int order;
    bool first_explicit;  // the first stage is the acceleration at the start, not a half-explicit one
    std::vector<double> c;
    std::vector<std::vector<double>> A;  // row i has i entries
    std::vector<double> c_bar;
    std::vector<std::vector<double>> A_bar;  // row i has i + 1 entries, the last not zero
};

// hem5's dense output: stage 10 at c = c10, and D: bhat_i(x) = sum_k D[k][i] x^(k + 1), columns for stages 4 .. 8 and 10.
struct Hem5Dense {
    double c10, a106, a107, a109;
    std::array<std::array<double, 6>, 4> D;
};

struct Phem56Dense {
    std::array<double, 7> embedded;  // order 4; the last acts on the end
    double middle;                   // fraction of the step at which the next line gives the solution
    std::array<double, 7> weights;
};

const ExplicitTableau& explicit_tableau(const char* name);
const HalfExplicitTableau& half_explicit_tableau(const char* name);
const Hem5Dense& hem5_dense();
const Phem56Dense& phem56_dense();

}  // namespace stickslip
