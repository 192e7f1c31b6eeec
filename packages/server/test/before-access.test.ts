/** Work before authorization: a request that is refused never reaches the database. */
import { expect, onTestFinished, test } from 'vitest'
import { jobmill } from '../../jobmill/src/index.ts'
import { sqlite } from '../../jobmill/src/sqlite.ts'
import { ALL_VERBS, aroundVerbs } from '../../jobmill/src/store.ts'
import { httpApi } from '../src/index.ts'
import { type Document, operationsOf } from './calls.ts'
import { TOKENS, tokenOf } from './mills.ts'

const ID = '00000000-0000-7000-8000-000000000000'
/** A caller whose role is too low for routes of this role. */
const TOO_LOW: Readonly<Record<string, string>> = {
  viewer: 'producer',
  operator: 'viewer',
  admin: 'operator',
}
const NOT_OURS = [
  '/',
  '/jobs',
  '/nowhere',
  '/api/nowhere',
  '/api/apps/files/x',
  '/healthz',
  '/api/openapi.json',
]

test('S1 no route calls the store for an anonymous request, nor for one whose role is too low', async () => {
  const called: string[] = []
  const store = aroundVerbs(sqlite(':memory:'), ALL_VERBS, (verb, call) => (...args) => {
    called.push(verb)
    return call(...args)
  })
  const mill = jobmill({ store, log: 'silent' })
  onTestFinished(async () => void (await mill.stop()))
  await mill.open()
  const apps = { files: { title: 'Files', fetch: () => new Response('no') } }
  const api = httpApi(mill, { tokens: TOKENS, apps, anonymousPerSecond: 10_000 })
  onTestFinished(() => api.stop())
  const document = (await (await api.fetch(new Request('http://x/api/openapi.json'))).json()) as Document

  const ask = async (method: string, path: string, role?: string): Promise<[number, readonly string[]]> => {
    called.length = 0
    const headers = {
      'content-type': 'application/json',
      ...(role !== undefined && { authorization: `Bearer ${tokenOf(role)}` }),
    }
    const body = method === 'GET' || method === 'HEAD' ? null : '{}'
    const at = path.replaceAll('{id}', ID).replaceAll(/\{\w+\}/g, 'x')
    const response = await api.fetch(new Request(`http://x${at}`, { method, headers, body }))
    await response.body?.cancel()
    return [response.status, [...called]]
  }

  const routes = operationsOf(document).map(({ method, path, role }) => ({ method, path, role }))
  expect(routes.length).toBeGreaterThan(50)
  const reached: string[] = []
  for (const { method, path, role } of routes) {
    const [status, verbs] = await ask(method, path)
    if (status !== 401 || verbs.length > 0)
      reached.push(`${method} ${path}, anonymous: ${status} ${verbs.join()}`)
    const low = TOO_LOW[role]
    if (low === undefined) continue
    const [refused, theirs] = await ask(method, path, low)
    if (refused !== 403 || theirs.length > 0)
      reached.push(`${method} ${path}, ${low}: ${refused} ${theirs.join()}`)
  }
  for (const path of NOT_OURS)
    for (const method of ['GET', 'POST']) {
      const [status, verbs] = await ask(method, path)
      if (verbs.length > 0) reached.push(`${method} ${path}, anonymous: ${status} ${verbs.join()}`)
    }
  expect(reached).toEqual([])
  // The calls are recorded: a caller with the role reaches the store.
  expect(await ask('GET', '/api/jobs', 'viewer')).toEqual([200, expect.arrayContaining(['list']) as string[]])
})
