// The Grafana dashboard and the alerts use only metrics, labels and values that a real mill exports.
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { defineJob, jobmill } from '../../packages/jobmill/src/index.ts'
import { sqlite } from '../../packages/jobmill/src/sqlite.ts'
import { openTables } from '../../packages/tables/src/index.ts'
import { directoryBlobs, type Schema, STEPS, uploads } from '../../packages/uploads/src/index.ts'
import { readExposition, type ReadFamily } from '../../packages/jobmill/test/observe/exposition.ts'
import { freshFile } from '../support/databases.ts'
import { type Query, readQuery, type Selector } from '../support/deploy/promql.ts'

const read = (file: string): string => readFileSync(new URL(`../../docs/${file}`, import.meta.url), 'utf8')

/** Prometheus adds these labels. */
const OF_TARGETS = ['job', 'instance']
/** Metrics of Prometheus and of the blackbox exporter. */
const FOREIGN = ['up', 'probe_success']
/** Every process exports the same value, so a sum over processes would be too large. */
const OF_STORE =
  /^jobmill_(?:uploads_(?:pending|oldest)_\w+|jobs|oldest_ready_seconds|queue_\w+|instances|limit_\w+|database_\w+|server_\w+|duty_last_success_age_seconds)$/

const OF_APPLICATIONS = /^jobmill_uploads_/

interface Known {
  readonly type: string
  readonly labels: Set<string>
  /** Values of labels that Jobmill defines, not of those with names from users. */
  readonly values: Map<string, Set<string>>
}

const known = new Map<string, Known>()

function learn(name: string, type: string, labels: Iterable<string>): Known {
  const entry = known.get(name) ?? { type, labels: new Set(OF_TARGETS), values: new Map() }
  for (const label of labels) entry.labels.add(label)
  known.set(name, entry)
  return entry
}

beforeAll(async () => {
  const work = defineJob({ kind: 'work', run: () => 1 })
  const mill = jobmill({
    store: sqlite(freshFile()),
    jobs: [work],
    queues: { default: { workers: 2 } },
    limits: { smtp: { rate: 5 } },
    log: 'silent',
  })
  await mill.start()
  await (await mill.enqueue(work, null)).result()
  const exposition = readExposition(await mill.prometheus())
  await mill.stop()
  for (const { type, samples } of [...exposition.values(), ...(await ofUploads())])
    for (const { name, labels } of samples) {
      const { values } = learn(name, type, Object.keys(labels))
      for (const [label, value] of Object.entries(labels))
        values.set(label, (values.get(label) ?? new Set()).add(value))
    }
  // Metrics that appear only after an event. A test of the library compares this table with a scrape that has
  // all of them.
  for (const [, name = '', type = '', labels = ''] of read('reference/metrics.md').matchAll(
    /^\| `(\w+)` \| (\w+) \| ([^|]*)\|/gm,
  ))
    if (type !== 'histogram')
      learn(
        name,
        type,
        [...labels.matchAll(/\w+/g)].map(([label]) => label),
      )
})

/** An application adds its own metrics to those of its mill. */
async function ofUploads(): Promise<readonly ReadFamily[]> {
  const file = freshFile()
  const { store, tables } = await openTables<Schema>(file, { app: 'uploads', steps: STEPS })
  const inbox = uploads({ tables, blobs: directoryBlobs(`${file}-blobs`) })
  const mill = jobmill({ store, duties: [inbox.duty], serve: ['uploads'], log: 'silent' })
  await inbox.start(mill)
  const exposition = readExposition(await mill.prometheus())
  await inbox.stop()
  await mill.stop()
  await tables.close()
  return [...exposition.values()].filter(({ name }) => OF_APPLICATIONS.test(name))
}

function expectToExist({ metric, matches, grouped, aggregation, call }: Selector): void {
  if (FOREIGN.includes(metric)) return
  expect([...known.keys()]).toContain(metric)
  const { type = '', labels = new Set(), values = new Map<string, Set<string>>() } = known.get(metric) ?? {}
  for (const label of [...grouped, ...matches.map((match) => match.label)])
    expect({ metric, label, isThere: labels.has(label) }).toEqual({ metric, label, isThere: true })
  for (const match of matches)
    for (const value of match.values) expect([...(values.get(match.label) ?? [])]).toContain(value)
  const isRate = call === 'rate' || call === 'increase'
  expect({ metric, type, isRate }).toEqual({ metric, type, isRate: type !== 'gauge' })
  const isAddedUp = OF_STORE.test(metric) && aggregation !== 'max' && aggregation !== 'min'
  expect({ metric, isAddedUp }).toEqual({ metric, isAddedUp: false })
}

/** A legend or a message uses only labels of the result. */
function expectToName({ selectors, labels }: Query, text: string, pattern: RegExp): void {
  const of = labels ?? selectors.flatMap(({ metric }) => [...(known.get(metric)?.labels ?? OF_TARGETS)])
  for (const [, label] of text.matchAll(pattern)) expect(of).toContain(label)
}

describe('the dashboard', () => {
  const place = z.object({ x: z.int().min(0), y: z.int().min(0), w: z.int().min(1), h: z.int().min(1) })
  const source = z.object({ type: z.literal('prometheus'), uid: z.literal('${datasource}') })
  const panel = z.looseObject({
    id: z.int(),
    type: z.enum(['row', 'stat', 'timeseries']),
    title: z.string(),
    description: z.string().optional(),
    gridPos: place,
    datasource: source.optional(),
    targets: z
      .array(
        z.looseObject({ refId: z.string(), expr: z.string(), legendFormat: z.string(), datasource: source }),
      )
      .default([]),
  })
  const shape = z.looseObject({
    schemaVersion: z.int().min(42),
    templating: z.object({
      list: z.array(z.looseObject({ name: z.string(), type: z.string(), definition: z.string().optional() })),
    }),
    panels: z.array(panel),
  })
  const { panels, templating } = shape.parse(JSON.parse(read('grafana/jobmill.json')))
  const charts = panels.filter(({ type }) => type !== 'row')

  test.each(charts)('uses existing metrics: $title', ({ targets, description }) => {
    expect(description).toBeTruthy()
    expect(targets.length).toBeGreaterThan(0)
    for (const { expr, legendFormat } of targets) {
      const query = readQuery(expr)
      query.selectors.forEach(expectToExist)
      expectToName(query, legendFormat, /\{\{(\w+)\}\}/g)
    }
  })

  test('shows every metric of the mill, except for the identity of its source', () => {
    const used = new Set(
      charts.flatMap(({ targets }) =>
        targets.flatMap(({ expr }) => readQuery(expr).selectors.map(({ metric }) => family(metric))),
      ),
    )
    const exported = new Set([...known.keys()].map(family).filter((name) => !OF_APPLICATIONS.test(name)))
    expect([...exported].filter((name) => !used.has(name))).toEqual(['jobmill_info'])
  })

  test('has panels with unique ids, without overlap, within the width', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBeLessThanOrEqual(24)
  })

  test('uses only variables that it defines', () => {
    const named = [...read('grafana/jobmill.json').matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name)
    const own = templating.list.map(({ name }) => name)
    expect(named.filter((name) => !name.startsWith('__') && !own.includes(name))).toEqual([])
    expect(own.filter((name) => !named.includes(name))).toEqual([])
    for (const { definition } of templating.list) {
      if (definition === undefined) continue
      const [, query = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? []
      const { metric } = readQuery(query).selectors[0] ?? {}
      expect([...(known.get(metric ?? '')?.labels ?? [])]).toContain(label)
    }
  })
})

function family(name: string): string {
  return name.replace(/_(?:bucket|sum|count)$/, '')
}

describe('the alerts', () => {
  const rule = z.strictObject({
    alert: z.string().regex(/^Jobmill[A-Z]\w+$/),
    expr: z.string(),
    for: z
      .string()
      .regex(/^\d+[smh]$/)
      .optional(),
    labels: z.strictObject({ severity: z.enum(['info', 'warning', 'critical']) }),
    annotations: z.strictObject({ summary: z.string().max(100), description: z.string().min(80) }),
  })
  const file = z.strictObject({
    groups: z.array(z.strictObject({ name: z.string(), rules: z.array(rule) })),
  })
  const rules = file.parse(parse(read('prometheus/alerts.yaml'))).groups.flatMap((group) => group.rules)

  test.each(rules)('$alert uses existing metrics, and says what to do', ({ expr, annotations }) => {
    const query = readQuery(expr)
    query.selectors.forEach(expectToExist)
    for (const text of Object.values(annotations)) expectToName(query, text, /\$labels\.(\w+)/g)
    for (const [name] of Object.values(annotations)
      .join(' ')
      .matchAll(/jobmill_\w+/g))
      expect([...known.keys()]).toContain(name)
  })

  test('have unique names', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  })

  test('include every alert that the guide recommends', () => {
    const page = read('operate/monitoring.md')
    const rows = [...page.matchAll(/^\| `(.*?jobmill_.*?)` \|/gm)].map(([, expr = '']) => readQuery(expr))
    expect(rows.length).toBeGreaterThan(4)
    for (const { selectors } of rows) {
      selectors.forEach(expectToExist)
      const [{ metric } = { metric: '' }] = selectors
      expect(rules.some(({ expr }) => expr.includes(metric))).toBe(true)
    }
  })
})
