// Shows those elements of the class `item` that contain all words of the search, and whose data, such
// as data-outcome, are what the select of that name in the form says.
const form = document.getElementById("filter");
const items = [...document.querySelectorAll(".item")];
form.addEventListener("input", () => {
  const words = form.text.value.toLowerCase().split(/\s+/);
  const selects = [...form.querySelectorAll("select")].filter(select => select.value !== "");
  for (const item of items) {
    const text = item.textContent.toLowerCase();
    item.hidden = !words.every(word => text.includes(word)) ||
        selects.some(select => item.dataset[select.name] !== select.value);
  }
  const shown = items.filter(item => !item.hidden).length;
  document.getElementById("shown").value = `${shown} ${form.dataset.unit}`;
});
form.addEventListener("submit", event => event.preventDefault());
