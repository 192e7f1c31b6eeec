/** Saved views: what is stored, and which names are refused. Runs on both stores. */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { rejection } from '../unit/support.ts'
import { subjects } from './stores.ts'

const search = 'queue=mail&state=dead'
const SEARCH_FIX = 'Pass the parameters of a job list, such as state=dead'

describe.each(subjects)('saved views on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)

  test('a view is saved for everyone, with its author, and its parameters as in an address', async () => {
    const mill = await create({ start: false })
    const createdAt = mill.platform.now()
    const saved = { name: 'Dead mail: é', search, by: 'ada', createdAt }
    expect(await mill.views.add({ name: '  Dead mail: é ', search: `?${search}` }, { by: 'ada' })).toEqual(
      saved,
    )
    // Another program may encode less.
    const other = await mill.views.add({ name: 'All of ada', search: 'tag=a b&failedFrom=1d' })
    expect(other).toMatchObject({ search: 'tag=a+b&failedFrom=1d', by: expect.any(String) as string })
    expect(await mill.views.list()).toEqual([other, saved])
    expect(await mill.views.delete('Dead mail: é')).toBe(true)
    expect(await mill.views.delete('Dead mail: é')).toBe(false)
    expect(await mill.views.list()).toEqual([other])
  })

  test('a name that another view has is refused, and the view stays', async () => {
    const mill = await create({ start: false })
    const saved = await mill.views.add({ name: 'Dead', search }, { by: 'ada' })
    const again = (more: object, by: string) =>
      rejection(() => mill.views.add({ name: 'Dead', search, ...more }, { by }))
    const taken = { code: 'VIEW_EXISTS', field: 'name', value: '"Dead"' }
    expect(await again({ search: 'state=dead' }, 'ada')).toMatchObject(taken)
    expect(await again({}, 'otto')).toMatchObject({
      ...taken,
      fix: 'Use another name, or delete that view first',
    })
    expect(await mill.views.list()).toEqual([saved])
  })

  test('S low an invalid name or filter is refused with what to do', async () => {
    const mill = await create({ start: false })
    for (const [view, code, field, fix] of [
      [{ name: '', search }, 'NAME_INVALID', 'name', 'Pass a name such as "Dead payments"'],
      [{ name: ' \t', search }, 'NAME_INVALID', 'name', 'Pass a name such as "Dead payments"'],
      [{ name: 5, search }, 'OPTION_INVALID', 'name', 'Pass a name such as "Dead payments"'],
      [{ name: 'x'.repeat(61), search }, 'NAME_INVALID', 'name', 'Shorten it'],
      [{ name: 'a\u0000b', search }, 'NAME_INVALID', 'name', 'Use printable text'],
      [{ name: 'a\nb', search }, 'NAME_INVALID', 'name', 'Use printable text'],
      [{ name: 'a', search: '?' }, 'OPTION_INVALID', 'search', SEARCH_FIX],
      [{ name: 'a', search: 1 }, 'OPTION_INVALID', 'search', 'Pass a string'],
      [{ name: 'a', search: `tag=${'x'.repeat(4_000)}` }, 'OPTION_INVALID', 'search', 'Remove some filters'],
      [{ name: 'a', search, by: 'x' }, 'OPTION_UNKNOWN', 'view.by', 'Use one of: name, search'],
    ] as const) {
      const refused = await rejection(() => mill.views.add(view as never))
      expect(refused).toMatchObject({ code, field, fix })
    }
    // Stored as in an address, so any text can be.
    await mill.views.add({ name: 'a', search: 'x=\u0000\uD800' })
    expect((await mill.views.list()).map((view) => view.search)).toEqual(['x=%00%EF%BF%BD'])
  })

  test('there are at most 200 views', async () => {
    const mill = await create({ start: false })
    for (let n = 0; n < 200; n += 1) await mill.views.add({ name: `View ${n}`, search }, { by: 'ada' })
    const full = { code: 'OPTION_INVALID', field: 'name', fix: 'Delete one first' }
    expect(await rejection(() => mill.views.add({ name: 'View 200', search }))).toMatchObject(full)
    expect(await mill.views.add({ name: 'View 7', search }, { by: 'ada' })).toMatchObject({ name: 'View 7' })
    await mill.views.delete('View 7')
    expect(await mill.views.add({ name: 'View 200', search })).toMatchObject({ name: 'View 200' })
  })
})
