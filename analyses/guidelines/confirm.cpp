#include "analyses/guidelines/follow_up.hpp"
#include "guidelines/follow_up.hpp"

namespace nplus1::analyses {

Confirmation confirm_violations(const std::string& folder, double budget, const MeasuringWatch& watch) {
  MeasuredFolder measured = open_measured(folder);
  measured.measuring.budget = budget;
  const auto cells =
      confirmation_cells(measured.analysis, measured.data, measured.measuring.how.criteria.least);
  Confirmation confirmation;
  if (cells.empty()) {
    confirmation.undecided = undecided_in(measured);
    return confirmation;
  }
  guidelines::Settings settings = settings_of(measured.measuring);
  settings[guidelines::kPurpose] = guidelines::kConfirmation;
  settings.erase(kBudget);  // with more of it, it goes on
  confirmation.notes = measure(measured.measuring, cells, measured.path / "confirmation.csv",
                               guidelines::csv_head(settings), watch)
                           .notes;
  confirmation.analysis = open_measured(folder).analysis;
  return confirmation;
}

}  // namespace nplus1::analyses
