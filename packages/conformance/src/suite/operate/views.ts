/** Saved views: each name once, and what is stored is what is read. */
import assert from 'node:assert/strict'
import { only } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { pluck } from '../looks.ts'

const DEAD = { name: 'Dead mail: “é”, 50% / $1', search: 'queue=mail&state=dead', by: 'ada' }

export const viewCases: readonly Case[] = [
  test('a view is stored with its author and time, and every handle reads it', async (t) => {
    assert.equal(await t.store.views.add(DEAD), true)
    const createdAt = t.clock.now()
    const other = await t.another()
    assert.deepEqual(only(await other.views.list()), { ...DEAD, createdAt })
  }),
  test('views are listed by the bytes of their names', async (t) => {
    for (const name of ['b', 'é', 'B', '\u{1F600}', '\uFF5E', 'a b', 'a', '10', '9'])
      await t.store.views.add({ ...DEAD, name })
    const names = pluck(await t.store.views.list(), 'name')
    assert.deepEqual(names, ['10', '9', 'B', 'a', 'a b', 'b', 'é', '\uFF5E', '\u{1F600}'])
  }),
  test('a name that is taken changes nothing, and a repeated call is done', async (t) => {
    const [one, two] = await t.handles(2)
    await one.views.add(DEAD)
    t.clock.advance(5)
    const before = await one.views.list()
    assert.equal(await two.views.add({ ...DEAD, search: 'state=dead' }), false)
    assert.equal(await two.views.add({ ...DEAD, by: 'otto' }), false)
    assert.equal(await two.views.add(DEAD), true)
    assert.deepEqual(await two.views.list(), before)
  }),
  test('of concurrent views with one name one is stored', async (t) => {
    const stores = await t.handles(3)
    const added = await Promise.all(
      stores.map((each, n) => each.views.add({ ...DEAD, search: `queue=q${n}` })),
    )
    assert.equal(added.filter(Boolean).length, 1)
    assert.equal(only(await t.store.views.list()).search, `queue=q${added.indexOf(true)}`)
  }),
  test('a deleted view is gone, and its name is free', async (t) => {
    await t.store.views.add(DEAD)
    await t.store.views.add({ ...DEAD, name: 'other' })
    assert.equal(await t.store.views.delete(DEAD.name), true)
    assert.equal(await t.store.views.delete(DEAD.name), false)
    assert.deepEqual(pluck(await t.store.views.list(), 'name'), ['other'])
    assert.equal(await t.store.views.add({ ...DEAD, search: '', by: 'otto' }), true)
  }),
]
