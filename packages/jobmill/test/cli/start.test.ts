/** `jobmill start` as a process: its output, its access control, and its shutdown under load. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import path from 'node:path'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { jobmill } from '../../src/index.ts'
import type { AuditPage } from '../../src/internal.ts'
import { postgres } from '../../src/postgres.ts'
import { config, run, source } from './run.ts'

const QUICK = `export default { store, jobs: [
  defineJob({ kind: 'echo', run: ({ payload }) => payload }),
  defineJob({ kind: 'slow', run: () => new Promise((resolve) => setTimeout(resolve, 200)) }),
] }`

const NEVER_OPENS = `export default { store: { ...store, open: () => new Promise(() => {
  console.error('opening')
  setInterval(() => {}, 1_000)
}) }, jobs: [
  defineJob({ kind: 'echo', run: () => {} }),
] }`

/** Ends when its signal is aborted. */
const HELD = `export default { store, jobs: [defineJob({ kind: 'hold', run: () => new Promise((resolve) => {
  console.log('holding')
  process.on('SIGINT', () => setTimeout(resolve, 300))
}) })] }`

/** The log line of a process that is ready. */
async function ready(child: ReturnType<typeof run>): Promise<Readonly<Record<string, unknown>>> {
  await child.says('"msg":"mill is ready"}\n')
  const line = child.output.err.split('\n').find((text) => text.includes('"mill is ready"')) ?? ''
  return JSON.parse(line) as Record<string, unknown>
}

/** The URL of a process that is ready. */
const started = async (child: ReturnType<typeof run>): Promise<string> => String((await ready(child))['url'])

async function read(url: string, init: RequestInit = {}): Promise<{ status: number; body: unknown }> {
  const response = await fetch(url, init)
  return { status: response.status, body: await response.json() }
}

const enqueue = (url: string, body: object): Promise<{ status: number; body: unknown }> =>
  read(`${url}/api/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** A process that waits for a database which accepts its connection and does not answer. */
async function waiting(deadline: string): Promise<ReturnType<typeof run>> {
  const sockets = new Set<Socket>()
  const connected = Promise.withResolvers<void>()
  const silent = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    connected.resolve()
  }).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  const { port } = silent.address() as AddressInfo
  const { folder } = config(QUICK)
  const store = `postgres('postgres://nobody@127.0.0.1:${port}/none', { deadline: '${deadline}' })`
  writeFileSync(
    path.join(folder, 'jobmill.config.ts'),
    `import { defineJob } from '${source('index.ts')}'
     import { postgres } from '${source('postgres.ts')}'
     export default { store: ${store}, jobs: [defineJob({ kind: 'echo', run: () => {} })] }`,
  )
  const child = run(folder, ['work'])
  await connected.promise
  return child
}

describe('jobmill start on postgres that does not answer', () => {
  test('D9 P6 c ends cleanly at the first signal', async () => {
    const child = await waiting('4s')
    child.child.kill('SIGTERM')
    expect(await child.ended).toBe(0)
    expect(child.output.err).toBe('')
  })

  test('D9 P6 ends at the second signal, though it still waits for the database', async () => {
    const child = await waiting('30s')
    child.child.kill('SIGTERM')
    child.child.kill('SIGINT')
    expect(await child.ended).toBe(0)
    // It did not wait for the connection timeout, which would be reported.
    expect(child.output.err).toBe('')
  })

  test('D9 P6 ends at the second signal, though its store never opens', async () => {
    const { folder } = config(NEVER_OPENS)
    const child = run(folder, ['work'])
    await child.says('opening')
    child.child.kill('SIGTERM')
    child.child.kill('SIGINT')
    expect(await child.ended).toBe(0)
    expect(child.output.err).toBe('opening\n')
  })
})

describe('jobmill start on sqlite', () => {
  test('P6 runs jobs, answers requests, and exits cleanly under load within its grace period', async () => {
    const { folder, file } = config(QUICK)
    const child = run(folder, ['start', '--port', '0'])
    const url = await started(child)
    expect(await ready(child)).toMatchObject({
      level: 'info',
      store: `sqlite ${file}`,
      queues: ['default'],
      kinds: ['echo', 'slow'],
    })
    expect(await read(`${url}/healthz`)).toEqual({ status: 200, body: { alive: true } })
    expect(await read(`${url}/readyz`)).toMatchObject({ status: 200, body: { ready: true } })
    const jobs = Array.from({ length: 50 }, () => ({ payload: null }))
    await read(`${url}/api/jobs/many`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'slow', jobs }),
    })
    const bulk = await read(`${url}/api/bulk`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ act: 'cancel', filter: { kind: 'nothing' } }),
    })
    expect(bulk.status).toBe(202)
    child.child.kill('SIGINT')
    expect(await child.ended).toBe(0)
    expect(child.output.err).toMatch(
      /stopped in \d+ ms: \d+ finished, \d+ returned to the queue, 0 interrupted/,
    )
    // Every line is JSON: without a terminal, no banner is between them.
    expect(child.output.out).toBe('')
    for (const line of child.output.err.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg')
  })

  test('P6 a Ctrl+C that npm forwards again counts once, and running jobs keep their grace period', async () => {
    const { folder } = config(HELD)
    const child = run(folder, ['start', '--port', '0'])
    const url = await started(child)
    await enqueue(url, { kind: 'hold' })
    await child.says('holding')
    child.child.kill('SIGINT')
    child.child.kill('SIGINT')
    expect(await child.ended).toBe(0)
    expect(child.output.err).toContain('1 finished, 0 returned to the queue, 0 interrupted')
  })

  test('S5 P6 SIGHUP, as from a closed terminal, stops it gracefully with its jobs', async () => {
    const { folder } = config(`export default { store, jobs: [defineJob({
      kind: 'hold',
      run: ({ signal }) => new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        console.log('holding')
      }),
    })], grace: 0 }`)
    const child = run(folder, ['start', '--port', '0'])
    const url = await started(child)
    await enqueue(url, { kind: 'hold' })
    await child.says('holding')
    child.child.kill('SIGHUP')
    expect(await child.ended).toBe(0)
    expect(child.output.err).toContain('0 finished, 0 returned to the queue, 1 interrupted')
  })

  test('serves only the API of a given database without a config', async () => {
    const { folder, file } = config(QUICK)
    const first = run(folder, ['enqueue-nothing'])
    expect(await first.ended).toBe(2)
    const child = run(path.dirname(folder), ['start', '--no-work', '--port', '0', '--db', `sqlite:${file}`])
    const url = await started(child)
    expect(await ready(child)).toMatchObject({ queues: [], kinds: [] })
    expect(await enqueue(url, { kind: 'echo', payload: 1 })).toMatchObject({ status: 201 })
    expect(
      await read(`${url}/api/bulk`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"act":"retry","filter":{}}',
      }),
    ).toMatchObject({ status: 503, body: { code: 'BULK_UNSERVED' } })
    child.child.kill('SIGTERM')
    expect(await child.ended).toBe(0)
  })

  test('requires tokens on an address other than loopback, reads them from a file or the environment, and serves the given queues', async () => {
    const { folder } = config(QUICK)
    const refused = run(folder, ['start', '--port', '0', '--bind', '0.0.0.0'])
    expect(await refused.ended).toBe(2)
    expect(refused.output.err).toContain('JOBMILL_TOKENS')
    writeFileSync(path.join(folder, 'tokens'), 'ada admin 0123456789abcdef0123\n')
    const args = [
      'start',
      '--port',
      '0',
      '--bind',
      '0.0.0.0',
      '--tokens-file',
      'tokens',
      '--queues',
      'mail, mail,reports',
    ]
    const child = run(folder, args)
    const url = (await started(child)).replace('0.0.0.0', '127.0.0.1')
    expect(await ready(child)).toMatchObject({ queues: ['mail', 'reports'] })
    expect((await read(`${url}/api/overview`)).status).toBe(401)
    const headers = { authorization: 'Bearer 0123456789abcdef0123' }
    expect(await read(`${url}/api/overview`, { headers })).toMatchObject({ body: { you: { name: 'ada' } } })
    child.child.kill('SIGTERM')
    expect(await child.ended).toBe(0)
    const env = { JOBMILL_TOKENS: 'ada boss 0123456789abcdef0123' }
    const wrong = run(folder, ['start', '--port', '0', '--bind', '0.0.0.0'], env)
    expect(await wrong.ended).toBe(2)
    expect(wrong.output.err).toContain('unknown role')
  })

  test('invalid options are refused with a fix', async () => {
    const { folder } = config(QUICK)
    const cases = [
      [['--port', 'eighty'], '--port: is not a port'],
      [['--no-api', '--no-work'], '--no-api: cannot be combined with --no-work'],
      [['--tokens-file', 'nowhere'], '--tokens-file: cannot be read'],
      [['--requests-per-second', '0'], '--requests-per-second: must be a whole number'],
      [['--log', 'xml'], '--log: is not a log format (got "xml"). Pass text or json'],
      [['--level', 'loud'], '--level: is not a log level'],
      [['nowhere.ts'], 'file not found'],
    ] as const
    const children = cases.map(([args]) => run(folder, ['start', ...args]))
    for (const [at, child] of children.entries()) {
      expect(await child.ended).toBe(2)
      expect(child.output.err).toContain(cases[at]?.[1])
    }
    const byEnv = run(folder, ['start'], { JOBMILL_TOKENS_FILE: 'nowhere' })
    expect(await byEnv.ended).toBe(2)
    expect(byEnv.output.err).toContain('JOBMILL_TOKENS_FILE: cannot be read (got "nowhere")')
  })

  test.each(['start', 'work'])(
    'M3 %s refuses tokens from a file and from a variable together',
    async (word) => {
      const { folder } = config(QUICK)
      const tokens = 'ada admin 0123456789abcdef0123'
      writeFileSync(path.join(folder, 'tokens'), tokens)
      const cases = [
        [
          run(folder, [word, '--port', '0'], { JOBMILL_TOKENS: tokens, JOBMILL_TOKENS_FILE: 'tokens' }),
          'JOBMILL_TOKENS_FILE',
        ],
        [
          run(folder, [word, '--port', '0', '--tokens-file', 'tokens'], { JOBMILL_TOKENS: tokens }),
          '--tokens-file',
        ],
      ] as const
      for (const [child, field] of cases) {
        expect(await child.ended).toBe(2)
        expect(child.output.err).toContain(
          `${field}: must not be set together with JOBMILL_TOKENS. Unset one of the two`,
        )
      }
    },
  )

  test('N17 work serves only probes and metrics, for the given queues; D low its 404 has the code of the API', async () => {
    const { folder } = config(QUICK)
    const env = { JOBMILL_TOKENS: 'prom viewer 0123456789abcdef0123' }
    const child = run(folder, ['work', '--queues', 'mail,reports', '--port', '0'], env)
    const { queues, url } = (await ready(child)) as { queues: string[]; url: string }
    expect(queues).toEqual(['mail', 'reports'])
    const headers = { authorization: 'Bearer 0123456789abcdef0123' }
    const status = async (place: string, init: RequestInit = {}): Promise<number> =>
      (await fetch(`${url}${place}`, init)).status
    const notFound = { status: 404, body: { code: 'ROUTE_UNKNOWN' } }
    expect(await read(`${url}/healthz`)).toEqual({ status: 200, body: { alive: true } })
    expect(await read(`${url}/readyz`)).toMatchObject({ status: 200, body: { ready: true } })
    const unknown = { headers: { authorization: 'Bearer fedcba9876543210fedc' } }
    expect(await read(`${url}/metrics`)).toEqual({ status: 401, body: { code: 'TOKEN_MISSING' } })
    expect(await read(`${url}/metrics`, unknown)).toEqual({ status: 401, body: { code: 'TOKEN_UNKNOWN' } })
    expect(await (await fetch(`${url}/metrics`, { headers })).text()).toMatch(/^jobmill_/m)
    for (const place of ['/', '/api/overview', '/api/jobs', '/api/openapi.json', '/metrics/x', '//healthz'])
      expect([place, await read(`${url}${place}`, { headers })]).toEqual([place, notFound])
    expect(await status('/healthz', { method: 'POST', body: '{}' })).toBe(405)
    expect(await status('/healthz', { method: 'HEAD' })).toBe(200)
    const [onUsedPort, withoutPort] = [
      run(folder, ['work', '--port', new URL(url).port]),
      run(folder, ['work', '--bind', '0.0.0.0']),
    ]
    expect([await onUsedPort.ended, await withoutPort.ended]).toEqual([2, 2])
    expect(onUsedPort.output.err).toContain('is already in use')
    expect(withoutPort.output.err).toContain('--bind: has no effect without --port')
    child.child.kill('SIGTERM')
    expect(await child.ended).toBe(0)
  })

  test('with --log text, it prints a banner', async () => {
    const { folder, file } = config(QUICK)
    const child = run(folder, ['start', '--port', '0', '--log', 'text'])
    await child.says('press Ctrl+C to stop\n')
    for (const part of [`store   sqlite ${file}\n`, 'queues  default\n', 'kinds   echo, slow\n'])
      expect(child.output.out).toContain(part)
    expect(child.output.out).toMatch(/^api {5}http:\S+\/api\/overview$/m)
    child.child.kill('SIGTERM')
    expect(await child.ended).toBe(0)
  })

  test('a port in use ends it and its workers', async () => {
    const { folder } = config(QUICK)
    const first = run(folder, ['start', '--port', '0'])
    const { port } = new URL(await started(first))
    const second = run(folder, ['start', '--port', port])
    expect(await second.ended).toBe(2)
    expect(second.output.err).toContain('is already in use')
    expect(second.output.err).toContain('Use another port with --port.')
    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(0)
  })
})

describe('jobmill start on postgres', () => {
  test('P1 every acknowledged job is stored, even while the process stops, and every stored job is in the audit log', async () => {
    const postgresUrl = inject('postgresUrl')
    const schema = freshSchema(postgresUrl, 'start')
    const address = new URL(postgresUrl)
    address.searchParams.set('schema', schema)
    const { folder } = config(QUICK)
    const child = run(folder, ['start', '--port', '0', '--no-work', '--db', address.href])
    const url = await started(child)
    const ids: string[] = []
    const over = new AbortController()
    const callers = Array.from({ length: 100 }, async () => {
      while (!over.signal.aborted) {
        const answer = await enqueue(url, { kind: 'echo', payload: 1 }).catch(() => null)
        if (answer === null || answer.status !== 201) return
        ids.push((answer.body as { id: string }).id)
      }
    })
    while (ids.length < 200) await enqueue(url, { kind: 'echo', payload: 0 })
    child.child.kill('SIGTERM')
    expect(await child.ended).toBe(0)
    over.abort()
    await Promise.all(callers)
    expect(child.output.err).not.toContain('audit')
    const store = postgres(postgresUrl, { schema })
    await store.open()
    expect((await store.get(ids)).filter((job) => job === null)).toEqual([])
    const audit = jobmill({ store, log: 'silent' })
    onTestFinished(async () => void (await audit.stop()))
    const audited = new Set<string | null>()
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: AuditPage = await audit.audit.list({ limit: 500, ...(cursor !== '' && { cursor }) })
      for (const { job } of page.entries) audited.add(job)
      cursor = page.next
    }
    const [counts] = await store.counts()
    expect(audited.size).toBe(counts?.ready)
  })
})
