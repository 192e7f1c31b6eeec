/** Uploading files: as many requests as the limits require, and no duplicates after a broken connection. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { pull, upload, type UploadProgress } from 'jobmill-uploads/client'
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { type Box, mailbox, pending, sceneForAll, sha256, STORES } from '../support/inboxes.ts'
import { proxyForAll } from './support/inbox-proxy.ts'
import { freshFolder } from './support/folders.ts'

const hashesOf = async (box: Box): Promise<string[]> =>
  (await pending(box)).files.map((file) => (file as unknown as { sha256: string }).sha256)

describe.each(STORES)('sending files to an inbox on %s', (store) => {
  const test = inTurns(store, STORES)
  const getScene = sceneForAll(store)
  const getProxy = proxyForAll(() => getScene().url)

  async function setUp(...contents: string[]) {
    const box = await mailbox(getScene())
    const folder = freshFolder()
    const files = contents.map((content, n) => {
      const at = path.join(folder, `file ${n}.txt`)
      writeFileSync(at, content)
      return { path: at }
    })
    const proxy = getProxy()
    return { box, files, proxy, options: { url: proxy.url, mailbox: box.id, token: box.token, files } }
  }

  test('E37 a lost response: retried under the same key without duplicates', async () => {
    const { box, files, proxy, options } = await setUp('one', 'two')
    const keys: unknown[] = []
    proxy.override(async ({ method, headers, forward }) => {
      if (method !== 'POST') return null
      keys.push(headers['idempotency-key'])
      if (keys.length > 1) return null
      await (await forward()).arrayBuffer()
      throw new Error('cut')
    })
    const reports: UploadProgress[] = []
    const sent = await upload({ ...options, onProgress: (progress) => void reports.push(progress) })
    expect(sent.map((file) => file.sha256)).toEqual([sha256('one'), sha256('two')])
    expect(await hashesOf(box)).toEqual([sha256('one'), sha256('two')])
    expect(keys).toHaveLength(2)
    expect(keys[0]).toBe(keys[1])
    expect(reports.at(-1)).toEqual({ sentBytes: 6, totalBytes: 6, path: files[1]?.path })
  })

  test('E41 as many requests as the limits require; a file that fits in none is reported before anything is sent', async () => {
    const { box, files, proxy, options } = await setUp('a', 'b', 'c', 'd', 'e'.repeat(3_000))
    const keys: unknown[] = []
    proxy.override(({ method, path: at, headers }) => {
      if (method === 'POST') keys.push(headers['idempotency-key'])
      return at === '/limits'
        ? Response.json({ maxFiles: 3, maxFileBytes: 2_900, maxRequestBytes: 1_000 })
        : null
    })
    await expect(upload(options)).rejects.toMatchObject({
      code: 'FILE_TOO_LARGE',
    })
    expect(keys).toEqual([])
    const reports: string[] = []
    const sent = await upload({
      ...options,
      files: files.slice(0, 4),
      key: 'k',
      onSent: (some) => void reports.push(...some.map(({ id }) => id)),
    })
    expect(sent).toHaveLength(4)
    expect(reports).toEqual(sent.map(({ id }) => id))
    expect(keys.length).toBeGreaterThan(1)
    expect(keys).toEqual(keys.map((_, n) => `k-${n}`))
    expect(await hashesOf(box)).toEqual(['a', 'b', 'c', 'd'].map((one) => sha256(one)))
  })

  test('a key of maximum length works for several requests; an empty file is reported before anything is sent', async () => {
    const { box, files, proxy, options } = await setUp('a', 'b', '')
    const keys: string[] = []
    proxy.override(({ method, path: at, headers }) => {
      if (method === 'POST') keys.push(String(headers['idempotency-key']))
      return at === '/limits'
        ? Response.json({ maxFiles: 1, maxFileBytes: 100, maxRequestBytes: 1_000 })
        : null
    })
    const key = 'k'.repeat(200)
    await expect(upload({ ...options, key })).rejects.toMatchObject({ code: 'FILE_EMPTY' })
    expect(keys).toEqual([])
    const again = { ...options, files: files.slice(0, 2), key }
    expect(await upload(again)).toEqual(await upload(again))
    expect(new Set(keys).size).toBe(2)
    expect(await hashesOf(box)).toEqual([sha256('a'), sha256('b')])
  })

  test('A a client without options is refused by name', () => {
    expect(() => pull(undefined as never)).toThrow(
      /^options: must be an object\. Pass an object with any of these keys: url, /,
    )
  })

  test('an unknown option is refused by name', async () => {
    const { options } = await setUp('one')
    const wrong = { ...options, onprogress: () => {} }
    await expect(upload(wrong)).rejects.toThrow(
      /^onprogress: is not a known option\. Use one of url, .*onProgress/,
    )
  })

  test.each([401, 413, 422, 507])('%i is not retried', async (status) => {
    const { proxy, options } = await setUp('one')
    proxy.override(({ method }) => (method === 'POST' ? Response.json({ code: 'X' }, { status }) : null))
    await expect(upload(options)).rejects.toMatchObject({ code: 'REFUSED', status, serverCode: 'X' })
    expect(proxy.requests.filter((one) => one.startsWith('POST'))).toHaveLength(1)
  })

  test('hostile names arrive as one part each, cleaned', async () => {
    const { box, files, options } = await setUp('one', 'two')
    const names = ['a"\r\nContent-Type: text/html\r\n\r\nx.txt', '../../☃.sh']
    await upload({ ...options, files: files.map((file, n) => ({ ...file, name: names[n] ?? '' })) })
    const listed = (await pending(box)).files.map(({ name }) => name)
    expect(listed).toHaveLength(2)
    for (const name of listed) expect(name).toMatch(/^[A-Za-z0-9._-]+$/)
    expect(listed[1]).toBe('_.sh')
  })
})
