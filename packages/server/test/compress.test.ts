/** Compression of responses: which are compressed, and which are sent as they are. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { freshFile } from '../../../test/support/databases.ts'
import { defineJob, jobmill, type MillOptions } from '../../jobmill/src/index.ts'
import { sqlite } from '../../jobmill/src/sqlite.ts'
import { httpApi } from '../src/index.ts'

const QUEUES = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`queue-${n}`, {}]))
const JOBS = [defineJob({ kind: 'a', run: () => null })]
const SECRET = 'sk_live_0123456789abcdef'

const schedules = (key: string) => [{ name: 's', job: 'a', when: '0 3 * * *', payload: { key } }]

async function api(options: Partial<MillOptions> = {}) {
  const mill = jobmill({ store: sqlite(freshFile()), jobs: JOBS, queues: QUEUES, log: 'silent', ...options })
  await mill.open()
  const { fetch, stop } = httpApi(mill, { insecure: true })
  onTestFinished(async () => {
    stop()
    await mill.stop()
  })
  const get = async (path: string, encoding?: string, method = 'GET') => {
    const headers = encoding === undefined ? {} : { 'accept-encoding': encoding }
    const answer = await fetch(new Request(`http://localhost/api/${path}`, { method, headers }))
    const { headers: sent, status } = answer
    const bytes = Buffer.from(await answer.arrayBuffer())
    return { status, bytes, encoding: sent.get('content-encoding'), headers: sent }
  }
  return { mill, get }
}

test('a large response is compressed as the client accepts, and its content stays the same', async () => {
  const { get } = await api()
  const plain = await get('queues')
  expect(plain.encoding).toBeNull()
  for (const [accepted, encoding, unpack] of [
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip, deflate', 'gzip', gunzipSync],
    ['br;q=0, GZIP;q=0.5', 'gzip', gunzipSync],
  ] as const) {
    const packed = await get('queues', accepted)
    expect(packed.encoding).toBe(encoding)
    expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 4)
    expect(unpack(packed.bytes).equals(plain.bytes)).toBe(true)
    expect(packed.headers.get('content-length')).toBe(String(packed.bytes.length))
    expect(packed.headers.get('content-type')).toBe('application/json')
    expect(packed.headers.get('cache-control')).toBe('no-store')
    expect(packed.headers.get('vary')).toContain('accept-encoding')
  }
  for (const accepted of ['identity', 'gzip;q=0', ''])
    expect((await get('queues', accepted)).encoding).toBeNull()
  expect((await get('queues', 'gzip', 'HEAD')).bytes.length).toBe(0)
})

test('a small response and a refusal are sent as they are', async () => {
  const { get } = await api({ queues: { default: {} } })
  expect((await get('limits', 'gzip')).encoding).toBeNull()
  const refused = await get(`queues?${'x'.repeat(2_000)}=1`, 'gzip')
  expect([refused.status, refused.encoding]).toEqual([400, null])
})

test('responses with payloads, logs, errors or audit entries are never compressed', async () => {
  const { mill, get } = await api()
  const { id } = await mill.enqueue('a', { key: SECRET.repeat(200) })
  await mill.schedules.create({
    name: 's',
    job: 'a',
    when: '0 3 * * *',
    payload: { key: SECRET.repeat(200) },
  })
  for (const path of [
    `jobs/${id}`,
    'jobs?include=payload',
    'schedules',
    'schedules/s',
    'timeline',
    'audit',
    'errors',
  ])
    expect([path, (await get(path, 'gzip, br')).encoding]).toEqual([path, null])
  expect((await get(`jobs/${id}`, 'gzip')).bytes.toString()).toContain(SECRET)
})

test('the overview is compressed only while it has no values of schedules', async () => {
  const store = () => sqlite(file)
  const file = freshFile()
  const first = jobmill({
    store: store(),
    jobs: JOBS,
    queues: QUEUES,
    schedules: schedules('one'),
    log: 'silent',
  })
  await first.start()
  await first.schedules.change('s', { payload: { key: SECRET } })
  await first.stop()
  const { get } = await api({ store: store(), schedules: schedules('one') })
  const drifted = await get('overview', 'gzip')
  expect(drifted.bytes.toString()).toContain(SECRET)
  const { get: getOther } = await api()
  expect((await getOther('overview', 'gzip')).encoding).toBe('gzip')
})
