/**
 * How the server delivers Mission Control: to any caller, on any of its routes, with strict security headers.
 */
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { expect, test } from 'vitest'
import { httpApi, type Authenticate } from '../src/index.ts'
import { apiFor } from '../src/api.ts'
import { freshFile } from '../../../test/support/databases.ts'
import { JobmillError } from '../../jobmill/src/job/errors.ts'
import { sqlite } from '../../jobmill/src/sqlite.ts'
import { bench, TOKENS } from './mills.ts'

const started = (options: Parameters<typeof bench>[1] = {}) =>
  bench(sqlite(freshFile()), { work: false, ...options })

const asViewer = () => ({ name: 'ada', role: 'viewer' }) as const

/** The URLs of the files that the HTML references. */
async function filesOf(page: Response): Promise<URL[]> {
  const html = await page.clone().text()
  const base = new URL(/<base href="([^"]*)"/.exec(html)?.[1] ?? 'missing', page.url)
  return [...html.matchAll(/(?:src|href)="(\.\/[^"]+)"/g)].map(([, path = '']) => new URL(path, base))
}

test('every route of the dashboard serves its HTML to any caller, and its assets are immutable', async () => {
  const { url } = await started({ tokens: TOKENS })
  for (const path of [
    '/',
    '/jobs',
    '/jobs/0190c5a0-7e1c-7b6a-9f3e-2d1c0b9a8f7e',
    '/schedules/a%2Fb',
    '/system',
  ]) {
    const page = await fetch(`${url}${path}`)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.headers.get('cache-control')).toBe('no-cache')
    const files = await filesOf(page)
    expect(files.length).toBeGreaterThanOrEqual(3)
    for (const file of files) {
      const answer = await fetch(file)
      expect(answer.status).toBe(200)
      expect((await answer.text()).length).toBeGreaterThan(100)
      const forever = 'public, max-age=31536000, immutable'
      expect(answer.headers.get('cache-control')).toBe(
        file.pathname.startsWith('/assets/') ? forever : 'no-cache',
      )
    }
  }
  const head = await fetch(`${url}/queues`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('the dashboard loads only its own scripts, styles and frames, and has nothing inline', async () => {
  const { url } = await started()
  const page = await fetch(url)
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toMatch(/unsafe|data:|\*/)
  for (const rule of ["script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'self'"])
    expect(policy).toContain(rule)
  expect(page.headers.get('x-content-type-options')).toBe('nosniff')
  const html = await page.text()
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=/)
})

test('other routes do not serve the dashboard: problems stay problems, and no file outside its directory is served', async () => {
  const { url } = await started()
  const wrong = [
    '/nowhere',
    '/jobs/a/b',
    '/assets/',
    '/assets/nothing.js',
    '/index.html',
    '/.stamp',
    '/package.json',
  ]
  for (const path of [...wrong, '/assets/..%2f..%2fpackage.json', '/assets/%2e%2e/%2e%2e/package.json'])
    expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 404])
  // A browser with a mistyped URL gets the dashboard, which shows the error.
  const lost = await fetch(`${url}/nowhere`, { headers: { accept: 'text/html' } })
  expect([lost.status, lost.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
  const post = await fetch(`${url}/jobs`, { method: 'POST' })
  expect([post.status, post.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
})

test('a base path works when served, when mounted with it, and when the host strips it', async () => {
  const basePath = '/ops/mill'
  const { url, mill } = await started({ basePath })
  expect(url).toMatch(/:\d+\/ops\/mill$/)
  const api = httpApi(mill, { insecure: true, basePath })
  const kept = new Hono().all('/ops/mill/*', (c) => api.fetch(c.req.raw))
  const stripped = new Hono().all('/ops/mill/*', (c) =>
    api.fetch(new Request(c.req.url.replace('/ops/mill', ''), c.req.raw)),
  )
  const asks = [
    fetch,
    (at: string) => kept.fetch(new Request(at.replace(/:\d+/, ''))),
    (at: string) => stripped.fetch(new Request(at.replace(/:\d+/, ''))),
  ]
  for (const ask of asks) {
    const page = await ask(`${url}/jobs`)
    expect(await page.text()).toContain('<base href="/ops/mill/" />')
    expect((await ask(`${url}/mark.svg`)).headers.get('content-type')).toBe('image/svg+xml')
    expect((await ask(`${url}/api/queues`)).status).toBe(200)
  }
  api.stop()
})

test('an invalid base path is refused, and the dashboard can be disabled', async () => {
  const { mill, url } = await started({ page: false })
  for (const basePath of ['mill', '/a b', '/a"><script>', '//x'])
    expect(() => httpApi(mill, { insecure: true, basePath })).toThrow(/basePath/)
  expect((await fetch(`${url}/jobs`)).status).toBe(404)
  expect((await fetch(`${url}/api/queues`)).status).toBe(200)
})

test('an unknown route points to all routes, and the root without a dashboard to its package', async () => {
  const { mill, url } = await started({ page: false })
  const SEE = 'See /api/openapi.json for all routes'
  for (const path of ['/', '/api/nowhere'])
    expect(await (await fetch(`${url}${path}`)).json()).toMatchObject({ code: 'ROUTE_UNKNOWN', fix: SEE })
  const mounted = httpApi(mill, { insecure: true, basePath: '/ops' })
  const below = await mounted.fetch(new Request('http://app.example/ops/api/nowhere'))
  expect(await below.json()).toMatchObject({ fix: 'See /ops/api/openapi.json for all routes' })
  mounted.stop()
  // The API alone, as it answers when the package of the dashboard is not installed.
  const { root, feed } = apiFor(
    mill,
    {},
    { identity: { by: 'host', authenticate: asViewer }, callers: 'any' },
  )
  const home = await root.request('/')
  expect([home.status, await home.json()]).toMatchObject([404, { fix: 'Install jobmill-dashboard' }])
  expect(await (await root.request('/nowhere')).json()).toMatchObject({ fix: SEE })
  feed.stop()
})

test('N5 with authenticate the dashboard is for known callers; anonymous ones get 401 without a token prompt, or the response of the host', async () => {
  const { mill } = await started()
  const login = new Response(null, { status: 303, headers: { location: '/login' } })
  const who = { name: 'ada', role: 'viewer' } as const
  const api = (authenticate: Authenticate) => httpApi(mill, { authenticate })
  const places = ['/', '/jobs', '/mark.svg', '/nowhere', '/api/overview', '/api/apps']
  const ask = async (authenticate: Authenticate, path: string): Promise<Response> =>
    api(authenticate).fetch(new Request(`http://app.example${path}`, { headers: { accept: 'text/html' } }))
  for (const path of places) {
    const unknown = await ask(() => null, path)
    expect([path, unknown.status, unknown.headers.get('www-authenticate')]).toEqual([path, 401, null])
    expect([path, await unknown.json()]).toMatchObject([path, { code: 'SIGN_IN_NEEDED' }])
    const sent = await ask(async () => login, path)
    expect([path, sent.status, sent.headers.get('location')]).toEqual([path, 303, '/login'])
    const known = await ask(() => who, path)
    expect([path, known.status]).toEqual([path, path === '/nowhere' ? 404 : 200])
  }
  // A process manager has no session.
  for (const path of ['/healthz', '/readyz']) expect((await ask(() => login, path)).status).toBe(200)
  const faults: unknown[] = []
  const broken = httpApi(mill, {
    authenticate: () => Promise.reject(new Error('no sessions')),
    onError: (error) => faults.push(error),
  })
  for (const path of ['/', '/api/overview'])
    expect((await broken.fetch(new Request(`http://app.example${path}`))).status).toBe(500)
  expect(faults).toHaveLength(2)
  const tokens = httpApi(mill, { tokens: TOKENS })
  const asked = await tokens.fetch(new Request('http://app.example/api/overview'))
  expect(asked.headers.get('www-authenticate')).toBe('Bearer')
})

const reject = async (value: unknown): Promise<never> => raise(value)
const raise = (value: unknown): never => {
  throw value as Error
}

test('H5 whatever authenticate or an application throws is 500 INTERNAL and logged, even values that are not errors', async () => {
  const { mill } = await started()
  const logged: string[] = []
  const onError = (error: unknown): void => void logged.push(String(error))
  const thrown: readonly unknown[] = [
    new Error('no sessions'),
    new JobmillError('JOB_UNKNOWN', 'no such job'),
    new HTTPException(401),
    null,
    undefined,
    'text',
    new Response('no', { status: 401 }),
    Object.create(null),
  ]
  const who = { name: 'ada', role: 'viewer' } as const
  for (const value of thrown)
    for (const fails of [reject, raise]) {
      const broken = httpApi(mill, { authenticate: () => fails(value), onError })
      const apps = { shop: { title: 'Shop', fetch: () => fails(value) } }
      const app = httpApi(mill, { authenticate: () => who, apps, onError })
      const asked: [typeof app, string][] = [
        [broken, '/'],
        [broken, '/api/overview'],
        [broken, '/api/apps/shop/x'],
        ...(value instanceof Error ? [] : [[app, '/api/apps/shop/x'] as [typeof app, string]]),
      ]
      for (const [api, path] of asked) {
        logged.length = 0
        const answer = await api.fetch(new Request(`http://app.example${path}`))
        expect([path, answer.status, await answer.json()]).toMatchObject([path, 500, { code: 'INTERNAL' }])
        expect(logged).toHaveLength(1)
      }
    }
  const getter = {
    role: 'admin',
    get name(): string {
      throw new Error('no name')
    },
  } as const
  for (const caller of [getter, Response.error()]) {
    const odd = httpApi(mill, { authenticate: () => caller, onError })
    for (const path of ['/', '/api/overview']) {
      logged.length = 0
      const answer = await odd.fetch(new Request(`http://app.example${path}`))
      expect([path, answer.status, await answer.json()]).toMatchObject([path, 500, { code: 'INTERNAL' }])
      expect(logged).toHaveLength(1)
    }
  }
})

test('H5 what authenticate returns is checked: undefined is 401, and an invalid caller is 500 and logged', async () => {
  const { mill } = await started()
  let [currentCaller, logged]: [unknown, string[]] = [null, []]
  const api = httpApi(mill, {
    authenticate: () => currentCaller as never,
    onError: (error) => logged.push(String(error)),
  })
  const ask = async (caller: unknown): Promise<unknown[]> => {
    ;[currentCaller, logged] = [caller, []]
    const answers: unknown[] = []
    for (const path of ['/', '/api/overview', '/api/apps']) {
      const answer = await api.fetch(new Request(`http://app.example${path}`))
      const { code, detail } = (await answer.json()) as Record<string, string>
      answers.push([answer.status, code, detail?.includes('authenticate') === true])
    }
    const named = logged.filter((line) => line.includes('authenticate') && !line.includes('hunter2'))
    return [...new Set(answers.map((one) => JSON.stringify(one))), logged.length, named.length]
  }
  expect(await ask(undefined)).toEqual(['[401,"SIGN_IN_NEEDED",false]', 0, 0])
  expect(await ask(null)).toEqual(['[401,"SIGN_IN_NEEDED",false]', 0, 0])
  const wrong = [
    { role: 'admin' },
    { name: '', role: 'admin' },
    { name: '  ', role: 'viewer' },
    { name: 7, role: 'viewer' },
    { name: 'ada' },
    { name: 'ada', role: 'boss' },
    { name: 'ada', role: 'constructor' },
    { name: 'ada', role: null, password: 'hunter2' },
    'ada',
    true,
    false,
    0,
    '',
    [],
  ]
  for (const caller of wrong)
    expect([caller, ...(await ask(caller))]).toEqual([caller, '[500,"INTERNAL",true]', 3, 3])
})

test.each<[readonly string[] | undefined, string, string | null]>([
  [undefined, "'none'", 'DENY'],
  [[], "'none'", 'DENY'],
  [["'none'"], "'none'", 'DENY'],
  [["'self'"], "'self'", 'SAMEORIGIN'],
  [["'self'", 'https://admin.example.com'], "'self' https://admin.example.com", null],
  [['https://*.example.com:8443'], 'https://*.example.com:8443', null],
])('N19 frameAncestors %j: the policy and the old header agree', async (frameAncestors, policy, old) => {
  const { mill } = await started()
  const api = httpApi(mill, { insecure: true, ...(frameAncestors !== undefined && { frameAncestors }) })
  const { headers } = await api.fetch(new Request('http://app.example/'))
  expect(headers.get('content-security-policy')?.split('; ')).toContain(`frame-ancestors ${policy}`)
  expect(headers.get('x-frame-options')).toBe(old)
  const data = await api.fetch(new Request('http://app.example/api/overview'))
  expect(data.headers.get('x-frame-options')).toBe('DENY')
})

test('N19 frameAncestors that are not origins are refused', async () => {
  const { mill } = await started()
  const wrong = [
    '*',
    'self',
    'admin.example.com',
    'https://a.example/path',
    'https://a.example; script-src *',
    'javascript:x',
  ]
  for (const one of [...wrong.map((source) => [source]), ["'none'", "'self'"], 'https://a.example', [5]])
    expect(() => httpApi(mill, { insecure: true, frameAncestors: one as string[] })).toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID', field: 'frameAncestors' }),
    )
})
