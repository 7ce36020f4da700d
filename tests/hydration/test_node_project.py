"""Plans in a Node project: the place of a symbol, its tests, and the commands of the package manager."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from test_plans import commit_all, planned

if TYPE_CHECKING:
    from simulator import Account

PACKAGE = """{"name": "shop", "scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "2"}}
"""
CART = """export function addItem(cart: Cart, sku: string): number {
  return cart.items.push(sku)
}
"""
TEST = """import { addItem } from '../src/cart'
test('adds', () => expect(addItem).toBeTruthy())
"""


@pytest.mark.conformance("Y12")
@pytest.mark.parametrize(
    ("lock", "one_test", "all_tests"),
    [
        pytest.param("package-lock.json", "npx vitest run test/cart.test.ts", "npm test", id="npm"),
        pytest.param("pnpm-lock.yaml", "pnpm exec vitest run test/cart.test.ts", "pnpm test", id="pnpm"),
    ],
)
def test_a_plan_names_the_place_and_the_commands_of_a_node_project(
    account: Account, lock: str, one_test: str, all_tests: str
) -> None:
    account.env["ENRICHER_MODE"] = "hydrate"
    files = {"package.json": PACKAGE, lock: "{}\n", "src/cart.ts": CART, "test/cart.test.ts": TEST}
    for path, text in files.items():
        account.write(Path(account.project) / path, text)
    commit_all(account.project)
    account.cli("code", "index")

    fix = planned(account, "addItem throws TypeError: cart.items is undefined when the cart is empty, fix it")
    rename = planned(account, "rename `addItem` to `addSku` everywhere")

    assert "src/cart.ts:1" in " ".join(fix.steps) and f"`{one_test}`" in " ".join(fix.steps)
    assert "addItem (src/cart.ts:1)" in " ".join(rename.steps)
    assert f"Run `{one_test}`, then `{all_tests}`" in " ".join(rename.steps)
