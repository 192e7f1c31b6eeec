/** N1: a process reports each option of its code that has no effect, with the reason. Runs on both stores. */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import type { Mill } from '../../src/index.ts'
import { type Code, deploy, quick } from './deploy.ts'
import { subjects } from './stores.ts'

const schedule = (options: { when: string; paused?: boolean; version?: number }): Code => ({
  schedules: [{ name: 'often', job: quick, ...options }],
})

const settings = async (mill: Mill): Promise<unknown> =>
  (await mill.diagnostics())
    .filter(({ check }) => check === 'settings')
    .map(({ message, fix }) => [message, fix])

const TAGGED: Code = {
  schedules: [{ name: 'often', job: quick, when: '@daily', payload: { password: 'hunter2' }, tags: ['a'] }],
}

const differs = { what: 'schedule', name: 'often', isInCode: true, override: null, higherVersion: null }

describe.each(subjects)('N1 configuration drift on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)

  test('N1 a schedule in code with a lower version than the stored one is logged and diagnosed with the version that applies', async () => {
    const store = await create({ jobs: [quick] })
    const at = { store, platform: store.platform }
    await deploy(at, schedule({ when: 'every 1h', version: 2 }))
    await deploy(at, schedule({ when: 'every 2h', paused: true }), async (mill, lines) => {
      expect(lines).toEqual([
        'schedule often: when is every 1h (a higher version (2) is stored), code here says every 2h. Set version: 3 in code to use its value, or deploy the release with version 2.',
        'schedule often: paused is false (a higher version (2) is stored), code here says true. Set version: 3 in code to use its value, or deploy the release with version 2.',
      ])
      expect(await mill.drift()).toEqual([
        { ...differs, field: 'when', code: 'every 2h', stored: 'every 1h', higherVersion: 2 },
        { ...differs, field: 'paused', code: true, stored: false, higherVersion: 2 },
      ])
      const fix = 'Set version: 3 in code, or deploy the release with version 2; a higher version is stored'
      expect(await settings(mill)).toEqual([
        ['schedule "often": when is "every 1h", but code says "every 2h"', fix],
        ['schedule "often": paused is false, but code says true', fix],
      ])
      // The reset of an override alone does not apply the value in code.
      await store.schedules.change('often', { when: 'every 3h', paused: true }, { by: 'ana' })
      expect(await mill.drift()).toMatchObject([
        { field: 'when', code: 'every 2h', stored: 'every 3h', override: { by: 'ana' }, higherVersion: 2 },
      ])
      const reset = 'Run "jobmill overrides reset schedule often when", or set the value in code'
      expect(await settings(mill)).toEqual([
        ['schedule "often": when is "every 3h", but code says "every 2h"', `${reset}. ${fix}`],
      ])
    })
    await deploy(at, schedule({ when: 'every 2h', version: 3 }), async (mill) => {
      await store.resetOverrides()
      expect(await mill.drift()).toEqual([])
    })
  })

  test('N1 of two releases with different schedules and the same version, the older process reports the difference', async () => {
    const store = await create({ jobs: [quick] })
    const at = { store, platform: store.platform }
    await deploy(at, schedule({ when: 'every 1h' }), async (old) => {
      expect(await old.drift()).toEqual([])
      await deploy(at, schedule({ when: 'every 3h' }), async (next, lines) => {
        expect([lines, await next.drift()]).toEqual([[], []])
      })
      expect(await old.drift()).toEqual([{ ...differs, field: 'when', code: 'every 1h', stored: 'every 3h' }])
      // A process that does not define the schedule has no value that could differ.
      await deploy(at, {}, async (mill) => expect(await mill.drift()).toEqual([]))
    })
  })

  test('S a payload that differs is logged without its values, and long values are shortened', async () => {
    const store = await create({ jobs: [quick] })
    const at = { store, platform: store.platform }
    await deploy(at, TAGGED)
    await store.schedules.change('often', { payload: { password: 'hunter3' } }, { by: 'ana' })
    const tags = Array.from({ length: 20 }, (_, n) => `${n}-${'x'.repeat(30)}`)
    await store.schedules.change('often', { tags }, { by: 'ana' })
    const seen: (readonly [string, object])[] = []
    const log = (_level: string, message: string, fields: object): void => void seen.push([message, fields])
    const by = `override by ana, ${new Date(store.clock.now()).toISOString()}`
    await deploy(at, { ...TAGGED, log }, async (mill) => {
      const lines = JSON.stringify([seen, (await mill.timeline({ limit: 100 })).events])
      expect(lines).not.toMatch(/hunter/)
      const of = (field: string): unknown =>
        seen.find(([, fields]) => 'field' in fields && fields.field === field)?.[0]
      expect(of('payload')).toBe(
        `schedule often: payload differs from code (${by}). Run "jobmill overrides reset schedule often payload" to use the value in code.`,
      )
      expect(of('tags')).toBe(
        `schedule often: tags is ${JSON.stringify(tags).slice(0, 199)}… (${by}), code says ["a"]. Run "jobmill overrides reset schedule often tags" to use the value in code.`,
      )
      expect(await mill.drift()).toMatchObject([
        { field: 'payload', code: { password: 'hunter2' }, stored: { password: 'hunter3' } },
        { field: 'tags' },
      ])
    })
  })
})
