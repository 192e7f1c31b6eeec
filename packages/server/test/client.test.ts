/** `jobmill/client` against the real server: what it enqueues, awaits and resends, and its errors. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { fileURLToPath } from 'node:url'
import { build, type Rolldown } from 'vite'
import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import {
  type Client,
  ClientError,
  type ClientErrorCode,
  createClient,
  type JobsByKind,
} from '../../jobmill/src/client.ts'
import type { HttpErrorCode } from '../../jobmill/src/client/client-error.ts'
import {
  Dead,
  declareJob,
  defineJob,
  type EnqueueOptions,
  implement,
  isJobmillError,
  type JobContext,
} from '../../jobmill/src/index.ts'
import { inTurns } from '../../../test/support/suite/in-turns.ts'
import type { ApiBodies } from '../src/index.ts'
import type { HTTP_CODES } from '../src/problem.ts'
import { bench, subjects, tokenOf, TOKENS } from './mills.ts'

const greet = defineJob({
  kind: 'greet',
  payload: z.object({ name: z.string() }),
  run: ({ payload }) => `Hello, ${payload.name}`,
})
const copyText = defineJob({
  kind: 'text.copy',
  run: ({ payload }: JobContext<{ text: string; times: number }>) => payload.text.repeat(payload.times),
})
const nothing = defineJob({ kind: 'nothing', run() {} })
const fail = defineJob({
  kind: 'fail',
  run() {
    throw new Dead('no such mailbox')
  },
})
const wait = defineJob({ kind: 'wait', run: ({ step }) => step.waitForEvent('paid', { timeout: '1h' }) })
const declared = declareJob<{ cents: number }, { receipt: string }>({ kind: 'charge' })
const charge = implement(declared, ({ payload }) => ({ receipt: `${payload.cents}` }))
const jobs = [greet, copyText, nothing, fail, wait]

type Fetch = typeof fetch

/** Sends the request, and loses the answer to the first `times` ones. */
function losing(times: number): { readonly fetch: Fetch; sent: number } {
  const network = {
    sent: 0,
    fetch: (async (...request: Parameters<Fetch>) => {
      const response = await fetch(...request)
      network.sent += 1
      if (network.sent > times) return response
      await response.body?.cancel()
      throw new TypeError('fetch failed', { cause: new Error('socket hang up') })
    }) as Fetch,
  }
  return network
}

async function caught(promise: Promise<unknown>): Promise<ClientError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (error instanceof ClientError) return error
  throw new Error('not a ClientError', { cause: error })
}

describe.each(subjects)('the client on $name', ({ name, store }) => {
  const test = inTurns(name, subjects)

  const open = async (options: { readonly fetch?: Fetch; readonly timeoutMs?: number } = {}) => {
    const { url, mill } = await bench(store(), { tokens: TOKENS, mill: { jobs } })
    const token = tokenOf('operator')
    return { url, mill, client: createClient<typeof jobs>({ url, token, ...options }) }
  }

  test('a job is enqueued, awaited and read', async () => {
    const { client, mill } = await open()
    const job = await client.enqueue(
      'greet',
      { name: 'Ada' },
      { tags: ['first'], metadata: { from: 'test' } },
    )
    expect(job.outcome).toBe('enqueued')
    expect(await job.result()).toBe('Hello, Ada')
    expect(await client.result(job.id)).toBe('Hello, Ada')
    expect(await client.get(job.id)).toMatchObject({
      state: 'done',
      tags: ['first'],
      payload: { name: 'Ada' },
    })
    expect(await client.get(crypto.randomUUID())).toBeNull()
    expect(await (await client.enqueue('nothing')).result()).toBeNull()
    const keyed = await client.enqueue('greet', { name: 'Eve' }, { dedupeKey: 'eve', delay: '1h' })
    expect(await client.enqueue('greet', { name: 'Eve' }, { dedupeKey: 'eve' })).toMatchObject({
      id: keyed.id,
      outcome: 'duplicate',
    })
    expect(await mill.get(keyed.id)).toMatchObject({ state: 'scheduled' })
  })

  test('a result that a poll omits is read in full', async () => {
    const { client } = await open()
    const job = await client.enqueue('text.copy', { text: 'abcdefgh', times: 20_000 })
    expect(await job.result()).toHaveLength(160_000)
  })

  test('P11 no duplicate: a lost answer is asked for again under the same ids', async () => {
    const network = losing(2)
    const { client, mill } = await open({ fetch: network.fetch })
    const job = await client.enqueue('greet', { name: 'Ada' }, { delay: '1h' })
    expect(network.sent).toBe(3)
    expect(await mill.get(job.id)).toMatchObject({ state: 'scheduled' })
    network.sent = 0
    const several = await client.enqueueMany('greet', [
      { payload: { name: 'Bob' }, delay: '1h' },
      { payload: { name: 'Cleo' }, delay: '1h', priority: 3 },
    ])
    expect(network.sent).toBe(3)
    expect(new Set([job, ...several].map(({ id }) => id)).size).toBe(3)
    expect((await mill.count()).jobs).toBe(3)
    network.sent = 0
    expect(await client.cancel(job.id, 'not wanted')).toMatchObject({ id: job.id, state: 'cancelled' })
    expect(await mill.get(job.id)).toMatchObject({ error: 'not wanted' })
  })

  test('when every answer is lost, the error names the id and keeps the cause', async () => {
    const { client } = await open({ ...losing(1_000), timeoutMs: 1_000 })
    const error = await caught(client.enqueue('greet', { name: 'Ada' }))
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', retryable: true })
    expect(error.fix).toMatch(/^Pass id: '[0-9a-f-]{36}' to enqueue the same job again$/)
    expect(error.cause).toMatchObject({
      code: 'API_UNREACHABLE',
      cause: { message: 'fetch failed', cause: { message: 'socket hang up' } },
    })
    expect(isJobmillError(error)).toBe(true)
  })

  test('an event reaches a job, by its id or key, and is not sent twice', async () => {
    const { client, url } = await open()
    const byId = await client.enqueue('wait')
    const byKey = await client.enqueue('wait', null, { dedupeKey: 'order 7' })
    expect(await client.sendEvent(byId.id, 'paid', { cents: 5 })).toEqual({ id: byId.id })
    expect(await client.sendEvent({ dedupeKey: 'order 7' }, 'paid')).toEqual({ id: byKey.id })
    expect(await byId.result()).toEqual({ cents: 5 })
    expect(await byKey.result()).toBeNull()
    const unlucky = losing(1)
    const lossy = createClient<typeof jobs>({ url, token: tokenOf('operator'), fetch: unlucky.fetch })
    const job = await client.enqueue('wait')
    expect(await caught(lossy.sendEvent(job.id, 'paid', { cents: 7 }))).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      fix: 'Check the job before you send the event again',
    })
    expect(unlucky.sent).toBe(1)
    expect(await job.result()).toEqual({ cents: 7 })
  })

  test('jobs that end otherwise reject with the codes of the library', async () => {
    const { client, mill } = await open()
    const dead = await client.enqueue('fail')
    const error = await caught(dead.result())
    expect(error).toMatchObject({ code: 'JOB_DEAD' })
    expect(error.message).toMatch(/^job [0-9a-f-]{36} is dead: .*no such mailbox/)
    const stopped = await client.enqueue('greet', { name: 'Ada' }, { delay: '1h' })
    expect(await caught(stopped.result({ timeoutMs: 1 }))).toMatchObject({ code: 'RESULT_TIMEOUT' })
    const abort = new AbortController()
    abort.abort(new Error('left the page'))
    await expect(stopped.result({ signal: abort.signal })).rejects.toThrow('left the page')
    await mill.cancel(stopped.id, 'not wanted')
    expect(await caught(stopped.result())).toMatchObject({
      code: 'JOB_CANCELLED',
      message: `job ${stopped.id} was cancelled: not wanted`,
    })
    expect(await caught(client.result(crypto.randomUUID()))).toMatchObject({ code: 'JOB_UNKNOWN' })
    expect(await caught(client.cancel(dead.id))).toMatchObject({ code: 'STATE_WRONG', status: 409 })
    expect(await caught(client.sendEvent(dead.id, 'paid'))).toMatchObject({ code: 'JOB_ENDED' })
  })

  test('an invalid job is refused with its field, its index and the fix, and nothing is stored', async () => {
    const { client, mill } = await open()
    const loose = client as unknown as ReturnType<typeof createClient>
    expect(await caught(loose.enqueue('greet', { name: 7 }))).toMatchObject({
      code: 'PAYLOAD_INVALID',
      status: 422,
      field: 'payload.name',
      message: expect.stringMatching(/^payload\.name: /) as string,
    })
    const items = [{ payload: { name: 'Ada' } }, { payload: { name: 'Bob' }, priority: 'high' as never }]
    expect(await caught(client.enqueueMany('greet', items))).toMatchObject({
      code: 'OPTION_INVALID',
      field: 'jobs.1.priority',
    })
    expect(await caught(client.enqueue('greet', { name: 'Ada' }, { dely: '1h' } as never))).toMatchObject({
      code: 'OPTION_UNKNOWN',
      field: 'dely',
      fix: 'Did you mean "delay"?',
      message: 'dely: unknown field "dely". Did you mean "delay"?',
    })
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    expect(await caught(loose.enqueue('greet', cycle))).toMatchObject({ code: 'PAYLOAD_NOT_JSON' })
    expect((await mill.count()).jobs).toBe(0)
  })
})

describe('access and the network', () => {
  const [first] = subjects

  test('the token decides, and a function can renew it', async () => {
    const { url } = await bench(first?.store() as never, { tokens: TOKENS, basePath: '/ops/mill' })
    const tokens = [tokenOf('producer'), 'old-token-0123456789-0123456789']
    const client = createClient({ url: `${url}/`, token: async () => tokens.pop() ?? '' })
    expect(await caught(client.enqueue('echo', 1))).toMatchObject({ code: 'TOKEN_UNKNOWN', status: 401 })
    tokens.push(tokenOf('producer'))
    const { id } = await client.enqueue('echo', 1)
    tokens.push(tokenOf('producer'))
    expect(await caught(client.get(id))).toMatchObject({ code: 'FORBIDDEN', status: 403 })
    const anonymous = createClient({ url })
    expect(await caught(anonymous.get(id))).toMatchObject({ code: 'TOKEN_MISSING' })
    const elsewhere = createClient({ url: `${new URL(url).origin}/other`, token: tokenOf('viewer') })
    expect(await caught(elsewhere.get(id))).toMatchObject({ code: 'ROUTE_UNKNOWN', status: 404 })
  })

  test('a caller over its rate waits and is served', async () => {
    const { url, mill } = await bench(first?.store() as never, { tokens: TOKENS, requestsPerSecond: 1 })
    const client = createClient({ url, token: tokenOf('producer') })
    await Promise.all([1, 2, 3].map((n) => client.enqueue('echo', n, { delay: '1h' })))
    expect((await mill.count()).jobs).toBe(3)
  })

  test('a server that is down is an error with the cause, and not a lost write on a read', async () => {
    const { url, close } = await bench(first?.store() as never)
    await close()
    const client = createClient({ url, timeoutMs: 300 })
    const error = await caught(client.get(crypto.randomUUID()))
    expect(error).toMatchObject({ code: 'API_UNREACHABLE', field: 'url', retryable: true })
    expect(error.cause).toMatchObject({ cause: { code: 'ECONNREFUSED' } })
  })

  test('a page of another server is refused at once', async () => {
    let requests = 0
    const other = createServer((request, response) => {
      requests += 1
      const isBad = request.url?.includes('bad-gateway') === true
      response.writeHead(isBad ? 502 : 200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>')
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await new Promise((resolve) => other.once('listening', resolve))
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    expect(await caught(createClient({ url }).enqueue('echo', 1))).toMatchObject({
      code: 'API_UNREACHABLE',
      retryable: false,
      message:
        'url: something other than the HTTP API answered with status 200. Pass the address of jobmill-server, with its basePath, as url.',
    })
    expect(requests).toBe(1)
    const proxied = createClient({ url: `${url}/bad-gateway`, timeoutMs: 150 })
    expect(await caught(proxied.enqueue('echo', 1))).toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    expect(requests).toBeGreaterThan(1)
  })

  test.each(['', '/ops/mill', 7])('the url %j is refused', (url) => {
    expect(() => createClient({ url: url as string })).toThrow(
      /^url: must be a URL \(got .*\)\. Pass the address/,
    )
  })
})

describe('the types and the size of the client', () => {
  test('kinds, payloads and results follow from typeof jobs', () => {
    const ofList = createClient<typeof jobs>({ url: 'http://localhost' })
    expectTypeOf<typeof ofList.enqueue<'greet'>>().parameter(1).toEqualTypeOf<{ name: string }>()
    expectTypeOf<typeof ofList.enqueue>()
      .parameter(0)
      .toEqualTypeOf<'greet' | 'text.copy' | 'nothing' | 'fail' | 'wait'>()
    // @ts-expect-error -- a typo in the kind
    expectTypeOf<typeof ofList.enqueue<'greets'>>().toBeFunction()
    type Greeting = Awaited<ReturnType<typeof ofList.enqueue<'greet'>>>
    expectTypeOf<Awaited<ReturnType<Greeting['result']>>>().toEqualTypeOf<string>()
    type Nothing = Awaited<ReturnType<typeof ofList.enqueue<'nothing'>>>
    expectTypeOf<Awaited<ReturnType<Nothing['result']>>>().toEqualTypeOf<null>()

    // As `import type * as jobs` gives it.
    type Module = { greet: typeof greet; copyText: typeof copyText; version: string }
    expectTypeOf<keyof JobsByKind<Module>>().toEqualTypeOf<'greet' | 'text.copy'>()
    const ofModule = createClient<Module>({ url: 'http://localhost' })
    expectTypeOf<typeof ofModule.enqueue<'greet'>>().parameter(1).toEqualTypeOf<{ name: string }>()

    // Type arguments of declareJob hide the name, so the type states it.
    const ofDeclared = createClient<[typeof charge & { kind: 'charge' }]>({ url: 'http://localhost' })
    expectTypeOf<typeof ofDeclared.enqueue<'charge'>>().parameter(1).toEqualTypeOf<{ cents: number }>()
    expectTypeOf<Client['enqueue']>().parameter(0).toEqualTypeOf<string>()
  })

  test('the client knows every code and every option of the API', () => {
    expectTypeOf<HttpErrorCode>().toEqualTypeOf<keyof typeof HTTP_CODES>()
    expectTypeOf<'API_UNREACHABLE'>().toExtend<ClientErrorCode>()
    type Body = ApiBodies['jobs.enqueue']
    expectTypeOf<keyof EnqueueOptions>().toEqualTypeOf<Exclude<keyof Body, 'kind' | 'payload'>>()
  })

  test('it has at most 4 KB with gzip, and imports nothing', async () => {
    const entry = fileURLToPath(new URL('../../jobmill/src/client.ts', import.meta.url))
    const built = await build({
      configFile: false,
      logLevel: 'silent',
      build: { write: false, lib: { entry, formats: ['es'] }, minify: true },
    })
    const chunks = (built as Rolldown.RolldownOutput[]).flatMap(({ output }) => output)
    expect(chunks.map((chunk) => ('imports' in chunk ? chunk.imports : []))).toEqual([[]])
    const [{ code }] = chunks as [Rolldown.OutputChunk]
    expect(gzipSync(code).length).toBeLessThanOrEqual(4_096)
    expect(code).not.toContain('node:')
  })
})
