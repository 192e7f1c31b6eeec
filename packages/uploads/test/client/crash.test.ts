/**
 * Kills the client at every fault point, and the server during a fetch, on both stores: acknowledged files
 * are on disk with their hash, nothing is lost or duplicated, and no partial file remains.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { PULL_FAULT_POINTS, pull, type PullFaultPoint } from 'jobmill-uploads/client'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { killAtEnd } from '../../../../test/support/programs/kill-at-end.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { bundled } from '../../../../test/support/programs/programs.ts'
import { freePort } from '../../../../test/support/free-port.ts'
import {
  addressOf,
  type Box,
  dropTables,
  formOf,
  mailbox,
  type Page,
  pending,
  sceneForAll,
  sha256,
  STORES,
} from '../support/inboxes.ts'
import { freshFolder, indexOf, namesIn } from './support/folders.ts'

const CHILD = fileURLToPath(new URL('support/puller-child.ts', import.meta.url))
const INBOX = fileURLToPath(new URL('support/inbox-child.ts', import.meta.url))

interface Leftovers {
  /** The files that the inbox considered acknowledged when the puller was dead. */
  readonly acked: readonly string[]
  readonly namesWhenDead: readonly string[]
  readonly namesRecovered: readonly string[]
  readonly index: readonly Record<string, unknown>[]
  readonly pending: Page['files']
  readonly files: readonly { id: string; sha256: string }[]
  /** The files on disk with the right hash when the puller was dead. */
  readonly intact: readonly string[]
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

async function expectLine(lines: AsyncIterator<string>, word: string): Promise<void> {
  const { value } = (await lines.next()) as { value: string | undefined }
  if (value !== word) throw new Error(`the puller said ${value}, not ${word}`)
}

// The puller knows only HTTP, so in `npm test` it dies at every point on one store.
const PULLED = inFull<readonly (typeof STORES)[number][]>(STORES, ['sqlite'])

describe.each(PULLED)('a puller on %s that is killed', (store) => {
  const cleanPoints = PULL_FAULT_POINTS.filter((point) => point.startsWith('clean'))
  const pullPoints = PULL_FAULT_POINTS.filter((point) => !cleanPoints.includes(point))
  const getScene = sceneForAll(store)
  const leftovers = new Map<PullFaultPoint, Leftovers>()

  async function start(
    point: PullFaultPoint | 'none',
    box: Box,
    folder: string,
  ): Promise<{ child: ChildProcess; lines: AsyncIterator<string> }> {
    const child = spawn(process.execPath, [bundled(CHILD)], {
      env: {
        ...process.env,
        URL: getScene().url,
        MAILBOX: box.id,
        TOKEN: box.token,
        FOLDER: folder,
        FAULT: point,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    killAtEnd(child)
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    await expectLine(lines, 'settled')
    return { child, lines }
  }

  /**
   * Each killed puller is followed by one that recovers its leftovers, and is then killed at the next point.
   */
  beforeAll(async () => {
    const box = await mailbox(getScene())
    const folder = freshFolder()
    let before: {
      point: PullFaultPoint
      dead: Omit<Leftovers, 'namesRecovered' | 'index' | 'pending'>
    } | null = null
    for (const point of [...pullPoints, ...cleanPoints, 'none'] as const) {
      const { child, lines } = await start(point, box, folder)
      const ended = once(child, 'exit')
      if (before !== null)
        leftovers.set(before.point, {
          ...before.dead,
          namesRecovered: namesIn(folder),
          index: indexOf(folder),
          pending: (await pending(box)).files,
        })
      if (point === 'none') {
        child.kill('SIGTERM')
        await ended
        break
      }
      child.kill('SIGUSR2')
      await expectLine(lines, 'armed')
      const contents = [`${point} small`, `${point} large`.repeat(40_000)]
      const ids = await box.sent(...contents)
      const [, signal] = (await ended) as [unknown, string]
      if (signal !== 'SIGKILL') throw new Error(`it did not reach ${point}, and ended by ${signal}`)
      const all = (await pending(box, '?state=all')).files
      const files = ids.map((id, n) => ({ id, sha256: sha256(contents[n] ?? '') }))
      before = {
        point,
        dead: {
          acked: all.filter(({ id, state }) => ids.includes(id) && state === 'acked').map(({ id }) => id),
          namesWhenDead: namesIn(folder),
          intact: files
            .filter((file, n) => {
              const at = path.join(folder, `${file.id}-${n}.txt`)
              return existsSync(at) && sha256(readFileSync(at)) === file.sha256
            })
            .map(({ id }) => id),
          files,
        },
      }
    }
  }, 300_000)

  test.each(pullPoints)('E32 E42 at %s: no file is acknowledged but missing, lost or duplicated', (point) => {
    const {
      acked,
      intact,
      namesWhenDead,
      namesRecovered,
      index,
      files,
      pending: rest,
    } = leftovers.get(point) as Leftovers
    expect(intact).toEqual(expect.arrayContaining([...acked]))
    // A file with its final name is complete at any time.
    const named = namesWhenDead.filter((name) => files.some(({ id }) => name.startsWith(id)))
    expect(named).toHaveLength(intact.length)
    const recovered = files.map(({ id }, n) => `${id}-${n}.txt`)
    expect(namesRecovered.filter((name) => files.some(({ id }) => name.includes(id)))).toEqual(
      recovered.toSorted(),
    )
    expect(namesRecovered.filter((name) => name.endsWith('.part'))).toEqual([])
    expect(rest).toEqual([])
    const entries = index.filter(({ id }) => files.some((file) => file.id === id))
    expect(entries.map(({ sha256: hash }) => String(hash)).toSorted()).toEqual(
      files.map((file) => file.sha256).toSorted(),
    )
    expect(entries.every(({ doneAt }) => doneAt !== null)).toBe(true)
  })

  test('E42 at clean:file, clean:entry: every file has its entry, and the next pass removes leftover entries', () => {
    for (const point of ['clean:file', 'clean:entry'] as const) {
      const { namesRecovered, index } = leftovers.get(point) as Leftovers
      const known = index.map(({ file }) => String(file)).toSorted()
      const present = known.filter((file) => namesRecovered.includes(file))
      expect(present).toEqual(namesRecovered)
      // The oldest is deleted first; among files of the same age, either may be.
      expect(known.length - present.length).toBe(point === 'clean:file' ? 1 : 0)
    }
  })
})

describe.each(inFull<readonly (typeof STORES)[number][]>(STORES, ['postgres']))(
  'an inbox on %s that is killed',
  (store) => {
    test('E32 during a fetch: the next inbox serves every file completely, once', async () => {
      const address = addressOf(store)
      onTestFinished(() => dropTables(address))
      const port = await freePort()
      const blobs = freshFolder()
      async function start(make: boolean): Promise<{ child: ChildProcess; firstLine: string }> {
        const child = spawn(process.execPath, [bundled(INBOX)], {
          env: {
            ...process.env,
            ADDRESS: address,
            BLOBS: blobs,
            PORT: String(port),
            MAKE: make ? 'yes' : '',
          },
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        killAtEnd(child)
        const { value } = await createInterface(child.stdout)[Symbol.asyncIterator]().next()
        return { child, firstLine: String(value) }
      }
      const first = await start(true)
      const { id, token } = JSON.parse(first.firstLine) as { id: string; token: string }
      const url = `http://127.0.0.1:${port}`
      const files = Array.from({ length: 6 }, (_, n) => new Uint8Array(2_000_000).fill(n))
      const response = await fetch(`${url}/mailboxes/${id}/uploads`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: formOf(files.map((bytes) => ({ bytes }))),
      })
      expect(response.status).toBe(200)
      await response.arrayBuffer()
      const folder = freshFolder()
      const { promise: killed, resolve } = Promise.withResolvers<void>()
      const pulled: string[] = []
      const one = pull({
        url,
        mailbox: id,
        token,
        folder,
        concurrency: 2,
        backoff: { first: 20, most: 100 },
        async onFile(file) {
          if (pulled.length === 0) {
            pulled.push(file.sha256)
            await kill(first.child)
            resolve()
          } else pulled.push(file.sha256)
        },
        onTrouble: () => {},
      })
      await one.start()
      await killed
      const second = await start(false)
      await expect
        .poll(async () => (await one.settled()).isComplete && pulled.length, { timeout: 60_000 })
        .toBe(files.length)
      expect(pulled.toSorted()).toEqual(files.map((bytes) => sha256(bytes)).toSorted())
      expect(namesIn(folder)).toHaveLength(files.length)
      expect(indexOf(folder).every(({ doneAt }) => doneAt !== null)).toBe(true)
      await one.stop()
      await kill(second.child)
    }, 180_000)
  },
)
