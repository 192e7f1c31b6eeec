/**
 * The alert on unfetched files, driven by the metrics of a real inbox: it fires only if files expire
 * unfetched and none is acknowledged.
 */
import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { evaluate, type Scrape } from '../../../test/support/deploy/evaluate-promql.ts'
import { readExposition } from '../../jobmill/test/observe/exposition.ts'
import { mailbox, sceneForAll } from './support/inboxes.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

const rules = parse(
  readFileSync(new URL('../../../docs/prometheus/alerts.yaml', import.meta.url), 'utf8'),
) as { groups: { rules: { alert: string; expr: string }[] }[] }
const { expr = '' } =
  rules.groups.flatMap((group) => group.rules).find(({ alert }) => alert === 'JobmillUploadsNotFetched') ?? {}

const stamped = Promise.withResolvers<void>()
const sharedScene = sceneForAll('sqlite', {
  fault: (point) => void (point === 'fetch:stamped' && stamped.resolve()),
})
type Samples = Scrape['samples']
let fresh: Samples
let unfetched: Samples
let acked: Samples
let fetched: Samples

const readSamples = async (): Promise<Samples> =>
  [...readExposition(await sharedScene().mill.prometheus()).values()].flatMap(({ samples }) => samples)

/** Runs all steps in one inbox. The metric is a counter, so each step is the difference of two scrapes. */
beforeAll(async () => {
  const scene = sharedScene()
  const box = await mailbox(scene)
  const pass = async (): Promise<Samples> => {
    scene.later(2 * DAY_MS)
    await scene.inbox.sweep()
    return readSamples()
  }
  fresh = await readSamples()
  await box.sent('a', 'b')
  unfetched = await pass()
  const [file] = await box.sent('c')
  await box.ask(`/uploads/${file}/ack`, { method: 'POST' })
  acked = await pass()
  const [other] = await box.sent('d')
  await (await box.ask(`/uploads/${other}/content`)).arrayBuffer()
  await stamped.promise
  fetched = await pass()
})

const from = (job: string, instance: string, samples: Samples): Samples =>
  samples.map((one) => ({ ...one, labels: { ...one.labels, job, instance } }))

/** The alerts that fire at this time, by default half an hour after the first scrape. */
function fires(scrapes: readonly Samples[], atMs = 30 * MINUTE_MS) {
  const list = scrapes.map((samples, n) => ({ atMs: n * 10 * MINUTE_MS, samples }))
  return evaluate(expr, list, atMs)
}
const one = (...list: Samples[]): Samples[] => list.map((samples) => from('inbox', 'a', samples))

test('E44 fires from the first file that expires unfetched, and says how many', () => {
  expect(fires(one(fresh, unfetched))).toEqual([{ labels: { job: 'inbox' }, value: 2 }])
})

test.each([
  ['nothing is swept', () => one(unfetched, unfetched)],
  ['what is swept was acknowledged', () => one(unfetched, acked)],
  ['what expired was fetched', () => one(acked, fetched)],
  ['files expire, and others are acknowledged', () => one(fresh, unfetched, acked)],
  ['a process restarts, and has swept nothing since', () => one(unfetched, fresh)],
])('E44 does not fire when %s', (_name, scrapes) => {
  expect(fires(scrapes())).toEqual([])
})

test('E44 ends an hour after the last of them', () => {
  const scrapes = one(fresh, unfetched, ...Array.from({ length: 10 }, () => unfetched))
  expect(fires(scrapes, 60 * MINUTE_MS)).toHaveLength(1)
  expect(fires(scrapes, 100 * MINUTE_MS)).toEqual([])
})

/** Two processes, of one inbox or of two. */
const pair = (job: string): Samples[] => [
  [...from('inbox', 'a', fresh), ...from(job, 'b', unfetched)],
  [...from('inbox', 'a', unfetched), ...from(job, 'b', acked)],
]

test('E44 counts over the processes of an inbox, and not over two inboxes', () => {
  expect(fires(pair('inbox'))).toEqual([])
  expect(fires(pair('other'))).toEqual([{ labels: { job: 'inbox' }, value: 2 }])
})
