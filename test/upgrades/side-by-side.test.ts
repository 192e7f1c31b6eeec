// Processes of an earlier release work while one of a later release starts and migrates their database.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { atFileEnd } from '../support/suite/file-end.ts'
import { inFull } from '../support/suite/in-full.ts'
import { buildNextRelease } from './releases/next-release.ts'
import { STORES } from './databases/places.ts'
import { listReleases, RELEASES } from './releases/release.ts'
import { upgradeUnderLoad } from './processes/side-by-side.ts'

const TIMEOUT_MS = 60_000

let next = ''
beforeAll(async () => {
  next = await buildNextRelease(atFileEnd)
})

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'jobmill-upgrade-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Published releases with the current one, and the current one with the release after it. */
const UPGRADES: readonly (readonly [name: string, older: string | null, newer: () => string | null])[] = [
  ...listReleases()
    .map((version) => [version, join(RELEASES, version, 'code')] as const)
    .filter(([, code]) => existsSync(code))
    .map(([version, code]) => [`${version} to today's`, code, () => null] as const),
  ["today's to the release after it", null, () => next],
]

// A PostgreSQL migration waits for the transactions of other processes, and they for it. databases.test.ts
// covers how both stores open the database of another release.
describe.each(inFull(STORES, STORES.slice(1)))('upgrades under load, on %s', (_, stores) => {
  test.each(UPGRADES)(
    'P2 P3 P4 from %s: old processes keep working next to a new one, no job is lost or runs twice',
    async (_name, older, newer) => {
      const upgrade = await upgradeUnderLoad({
        older,
        newer: newer(),
        place: stores.empty(),
        folder: ownFolder(),
        expire: stores.expire,
        onEnd: onTestFinished,
      })
      // As a text, so that a failure shows all of it.
      expect(upgrade.broken.join('\n')).toBe('')
      expect(upgrade.interrupted).toBeGreaterThan(0)
    },
    TIMEOUT_MS,
  )
})
