"use strict";
(() => {
  const form = document.querySelector("form.filters");
  const body = document.querySelector("table.board.own tbody");
  if (!form || !body) return;
  const rows = [...body.rows];
  const told = document.querySelector("output");
  const heading = document.querySelector("table.board.own thead").rows[0].cells[2];
  const filters = [...form.querySelectorAll("select[data-filter]")];

  function update() {
    const measure = form.elements.measure.value;
    const chosen = filters.filter(select => select.value !== "");
    const shown = rows.filter(row => chosen.every(select => row.dataset[select.name] === select.value));
    shown.sort((one, other) => other.dataset[measure] - one.dataset[measure]);
    const most = Math.max(...shown.map(row => Number(row.dataset[measure])), 0);
    for (const row of rows) row.hidden = true;
    shown.forEach((row, place) => {
      row.hidden = false;
      row.cells[0].textContent = String(place + 1);
      row.querySelector(".bar i").style.width = `${(100 * row.dataset[measure]) / most}%`;
      row.querySelector(".bar b").textContent = row.dataset[`${measure}Text`];
      row.querySelector(".beside").textContent = row.dataset[`${measure}Beside`];
      body.append(row);
    });
    heading.textContent = `${form.elements.measure.selectedOptions[0].text}, largest first`;
    told.textContent = `${shown.length} of ${rows.length} results`;
  }

  form.hidden = false;
  form.addEventListener("input", update);
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(update));
  update();
})();
