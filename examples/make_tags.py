"""Writes tags.csv: 600 invented recipes with a text, numbers, and several tags in one column.

    python examples/make_tags.py [PATH]

A recipe is a kind of dish, a main ingredient and a kitchen, which decide its words, its numbers and the tags that fit.
As people do, the cook forgets some tags and now and then gives a wrong one, so no model can find all of them.
"""

import csv
import random
import sys
from pathlib import Path

ROWS, SEED = 600, 7
FORGOTTEN, WRONG, EMPTY = 0.15, 0.01, 0.04
PATH = Path(__file__).with_name("tags.csv")

# dish: tags, minutes, kcal, verbs, words
DISHES = {
    "soup": ("soup", 40, 280, "simmer blend ladle season", "broth leek celery carrot stock bay"),
    "salad": ("salad", 15, 260, "toss slice drizzle chill", "lettuce cucumber radish vinaigrette walnut rocket"),
    "pasta": ("", 30, 560, "boil drain toss grate", "spaghetti penne parmesan garlic basil"),
    "curry": ("spicy", 45, 520, "toast simmer stir fry", "turmeric ginger coriander chilli onion"),
    "stew": ("", 110, 610, "brown braise simmer thicken", "potato carrot stock thyme bay"),
    "cake": ("dessert baking", 75, 430, "whisk fold bake cool", "flour butter sugar vanilla cream"),
    "cookies": ("dessert baking", 35, 390, "cream roll bake cool", "flour butter sugar oats chocolate"),
    "pancakes": ("breakfast", 25, 410, "whisk rest fry flip", "flour milk butter maple berries"),
    "omelette": ("breakfast", 12, 330, "beat fry fold season", "butter chives mushroom pepper"),
    "tacos": ("", 30, 480, "warm fill squeeze fry", "tortilla lime avocado salsa onion"),
    "stir-fry": ("", 20, 420, "slice fry toss glaze", "wok soy ginger pepper noodles"),
    "pie": ("baking", 90, 540, "roll chill fill bake", "pastry flour butter thyme cream"),
    "bowl": ("", 25, 450, "steam arrange dress scatter", "rice sesame avocado carrot edamame"),
}
SWEET = {"cake", "cookies", "pancakes"}
EGGS = {"omelette", *SWEET}
# main ingredient: tags, kcal more, price, how it is prepared
MAINS = {
    "chicken": ("meat", 120, 2.2, "roasted browned shredded"),
    "beef": ("meat", 190, 3.4, "minced seared braised"),
    "pork": ("meat", 170, 2.4, "diced cured crisp"),
    "salmon": ("fish", 130, 3.8, "filleted smoked flaked"),
    "prawns": ("fish", 60, 3.9, "peeled grilled pink"),
    "tofu": ("vegetarian vegan", 70, 1.3, "pressed firm crisp"),
    "lentils": ("vegetarian vegan", 80, 0.6, "rinsed red soft"),
    "chickpeas": ("vegetarian vegan", 90, 0.7, "drained crisp cooked"),
    "feta": ("vegetarian", 140, 1.8, "crumbled briny grilled"),
    "mushrooms": ("vegetarian", 20, 1.5, "brown wild sliced"),
}
FRUITS = {
    "apples": ("vegetarian", 20, 0.9, "peeled tart grated"),
    "lemons": ("vegetarian", 10, 0.8, "zested juicy sliced"),
    "chocolate": ("vegetarian", 120, 1.6, "dark melted grated"),
    "bananas": ("vegetarian vegan", 60, 0.6, "ripe mashed sliced"),
}
# kitchen: tags, words
KITCHENS = {
    "italian": ("italian", "basil tomato olive mozzarella balsamic"),
    "mexican": ("mexican spicy", "lime cumin chipotle beans coriander"),
    "indian": ("asian spicy", "cardamom masala yoghurt mustard ghee"),
    "thai": ("asian spicy", "coconut lemongrass lime galangal basil"),
    "japanese": ("asian", "miso soy dashi sesame nori"),
    "french": ("french", "butter shallot tarragon wine cream"),
    "home": ("", "salt pepper parsley oil"),
    "garden": ("", "herbs peas courgette spinach"),
}
PLACES = {
    "pasta": ("italian", "home"),
    "curry": ("indian", "thai"),
    "tacos": ("mexican",),
    "stir-fry": ("thai", "japanese"),
}
ENDS = (
    "Serve at once.",
    "Keeps for two days in the fridge.",
    "Good for a crowd.",
    "A favourite of the children.",
    "Serve with bread.",
    "Better on the next day.",
    "Use what the market has.",
)


def sentence(rng: random.Random, verbs: list[str], words: list[str], main: str) -> str:
    """Two steps, with words of the dish and the kitchen."""
    first, second = rng.sample(verbs, 2)
    some = rng.sample(sorted(set(words)), min(7, len(set(words))))
    return (
        f"{first.capitalize()} the {main} with {some[0]}, {some[1]} and {some[2]}, then {second} with {some[3]} and "
        f"{some[4]}. Finish with {some[5]} and {some[6]}. {rng.choice(ENDS)}"
    )


def number(rng: random.Random, mean: float, step: int) -> int:
    """A number about a mean, which spreads by a fifth of it, in steps."""
    return max(step, step * round(rng.gauss(mean, 0.2 * mean) / step))


def recipe(rng: random.Random, index: int) -> dict[str, object]:
    """One row of the table."""
    dish = rng.choice(sorted(DISHES))
    tags, minutes, kcal, verbs, words = DISHES[dish]
    sweet = dish in SWEET
    main, (more_tags, more_kcal, price, prepared) = rng.choice(sorted((FRUITS if sweet else MAINS).items()))
    kitchen = rng.choice(PLACES.get(dish, ("french", "home") if sweet else sorted(KITCHENS)))
    place_tags, place_words = KITCHENS[kitchen]
    taken, energy = number(rng, minutes, 5), number(rng, kcal + more_kcal, 10)
    fitting = {*tags.split(), *more_tags.split(), *place_tags.split()}
    fitting |= {"quick"} if taken <= 25 else set()
    fitting |= {"light"} if energy <= 400 else set()
    fitting -= {"vegan"} if dish in EGGS or "butter" in words.split() or kitchen == "french" else set()
    given = {tag for tag in sorted(fitting) if rng.random() >= FORGOTTEN}
    given |= {tag for tag in TAGS if rng.random() < WRONG}
    steps = sentence(
        rng, verbs.split(), [*words.split(), *place_words.split()], f"{rng.choice(prepared.split())} {main}"
    )
    row = {
        "recipe": f"R{index:03d}",
        "text": steps,
        "minutes": taken,
        "servings": rng.choice((1, 2, 2, 4, 4, 4, 6, 8)),
        "kcal": energy,
        "price": f"{rng.gauss(1.4 + price, 0.3):.2f}",
    }
    row |= {name: "" for name in ("kcal", "price") if rng.random() < EMPTY}
    return row | {"tags": ";".join(sorted(given or fitting))}


TAGS = sorted({
    tag
    for tags, *_ in [*DISHES.values(), *MAINS.values(), *FRUITS.values(), *KITCHENS.values(), ("quick light",)]
    for tag in tags.split()
})  # fmt: skip


def main(path: Path = PATH) -> None:
    rng = random.Random(SEED)
    rows = [recipe(rng, index) for index in range(1, ROWS + 1)]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
