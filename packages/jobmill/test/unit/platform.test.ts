/** The real platform: the form of its values. The precision of timers is up to Node. */
import { expect, test } from 'vitest'
import { checkId } from '../../src/job/names.ts'
import { systemPlatform } from '../../src/platform/platform.ts'

test('ids are UUIDs of version 7 and rise within the process', () => {
  const ids = Array.from({ length: 1_000 }, () => systemPlatform.id())
  for (const id of ids) expect(checkId(id, 'id')).toBe(id)
  expect(new Set(ids.map((id) => id.charAt(14)))).toEqual(new Set(['7']))
  expect(ids).toEqual([...new Set(ids)].toSorted())
})

test('random numbers are at least 0 and below 1', () => {
  const drawn = Array.from({ length: 1_000 }, () => systemPlatform.random())
  expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...drawn)).toBeLessThan(1)
  expect(new Set(drawn).size).toBeGreaterThan(990)
})

test('a timer runs its task once; a cancelled timer does not run it', async () => {
  const ran: string[] = []
  systemPlatform.timer(0, () => ran.push('cancelled')).cancel()
  await new Promise<void>((resolve) => {
    systemPlatform.timer(0, () => {
      ran.push('run')
      systemPlatform.nextTurn(resolve)
    })
  })
  expect(ran).toEqual(['run'])
})

test('the platform is frozen', () => {
  expect(Object.isFrozen(systemPlatform)).toBe(true)
})
