/** Alert rules: written as a whole, under the revision that was read. */
import assert from 'node:assert/strict'
import type { AlertRecord, AlertState, FullStore } from 'jobmill/store'
import { anAlert, aRule, only } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { pluck } from '../looks.ts'

const FOUND = {
  check: 'dead',
  level: 'warning',
  about: { what: 'queue', name: 'mail' },
  message: 'queue "mail" has 1 dead job: “é”',
  fix: 'Inspect the errors',
  since: 1_000_000_000_000,
} as const

const STATE: AlertState = {
  causes: [{ ...FOUND, endedAt: null, sent: 1, sentAt: 1_000_000_000_001, sentLevel: 'warning' }],
  outbox: [{ ...FOUND, id: 'msg_1', type: 'problem', at: 1_000_000_000_001 }],
}

async function onlyAlert({ alerts }: FullStore): Promise<AlertRecord> {
  return only(await alerts.list())
}

export const alertCases: readonly Case[] = [
  test('a rule is stored with its state, and every handle reads both', async (t) => {
    const rule = aRule({ checks: null, queue: 'mail', secrets: ['whsec_A', 'whsec_B'], inCode: true })
    const revision = await t.store.alerts.put(anAlert('ops', { rule, state: STATE }))
    assert.ok(revision !== null)
    const other = await t.another()
    assert.deepEqual(await onlyAlert(other), { name: 'ops', revision, rule, state: STATE })
  }),
  test('rules are listed by name', async (t) => {
    for (const name of ['b', 'B', 'a:1', 'a', '10', '9']) await t.store.alerts.put(anAlert(name))
    assert.deepEqual(pluck(await t.store.alerts.list(), 'name'), ['10', '9', 'B', 'a', 'a:1', 'b'])
  }),
  test('a write under the stored revision replaces rule and state, and raises the revision', async (t) => {
    const first = await t.store.alerts.put(anAlert('ops'))
    assert.ok(first !== null)
    const write = anAlert('ops', { revision: first, rule: aRule({ paused: true }), state: STATE })
    const second = await t.store.alerts.put(write)
    assert.equal(second, first + 1)
    assert.deepEqual(await onlyAlert(t.store), { ...write, revision: second })
  }),
  test('a write under another revision, or of a new rule whose name is taken, changes nothing', async (t) => {
    const [one, two] = await t.handles(2)
    const first = await one.alerts.put(anAlert('ops'))
    assert.ok(first !== null)
    await two.alerts.put(anAlert('ops', { revision: first, state: STATE }))
    const before = await onlyAlert(one)
    const rule = aRule({ url: 'https://example.com/other' })
    for (const revision of [null, first, first - 1, first + 2])
      assert.equal(await one.alerts.put(anAlert('ops', { revision, rule })), null, String(revision))
    assert.equal(await one.alerts.put(anAlert('unknown', { revision: first })), null)
    assert.deepEqual(await onlyAlert(two), before)
  }),
  test('a repeated write reports the revision of the first one', async (t) => {
    const first = await t.store.alerts.put(anAlert('ops'))
    assert.equal(await t.store.alerts.put(anAlert('ops')), first)
    const write = anAlert('ops', { revision: first, state: STATE })
    const second = await t.store.alerts.put(write)
    assert.equal(await t.store.alerts.put(write), second)
    assert.equal((await onlyAlert(t.store)).revision, second)
  }),
  test('of concurrent writes under one revision, one is accepted', async (t) => {
    const stores = await t.handles(4)
    const made = await Promise.all(
      stores.map(({ alerts }, n) => alerts.put(anAlert('ops', { rule: aRule({ forMs: n }) }))),
    )
    assert.equal(made.filter((revision) => revision !== null).length, 1)
    const { revision } = await onlyAlert(t.store)
    const changed = await Promise.all(
      stores.map(({ alerts }, n) => alerts.put(anAlert('ops', { revision, rule: aRule({ forMs: 10 + n }) }))),
    )
    assert.deepEqual(
      changed.filter((one) => one !== null),
      [revision + 1],
    )
    assert.equal((await onlyAlert(t.store)).rule.forMs, 10 + changed.indexOf(revision + 1))
  }),
  test('a deleted rule is gone with its state, and no revision of it returns', async (t) => {
    const old = await t.store.alerts.put(anAlert('ops', { state: STATE }))
    assert.ok(old !== null)
    assert.equal(await t.store.alerts.delete('ops'), true)
    assert.equal(await t.store.alerts.delete('ops'), false)
    assert.deepEqual(await t.store.alerts.list(), [])
    t.clock.advance(5)
    assert.equal(await t.store.alerts.put(anAlert('ops')), t.clock.now())
    assert.equal(await t.store.alerts.put(anAlert('ops', { revision: old, state: STATE })), null)
    assert.deepEqual((await onlyAlert(t.store)).state, { causes: [], outbox: [] })
  }),
]
