/**
 * The command that enqueues another job like this one. It omits what is unique to this job: its id, its
 * dedupe key, and metadata of a schedule or a trace.
 */
import type { Job } from '../../../api/types.ts'
import { isTooLong, joinLines, option, quote, withInput } from './shell.ts'

export type Like = Pick<
  Job,
  'kind' | 'payload' | 'queue' | 'priority' | 'maxAttempts' | 'timeoutMs' | 'tags' | 'orderKey' | 'group'
>

/** `api` is the URL of the API, with a trailing slash. */
export function asCurl(job: Like, api: string): string {
  const body = JSON.stringify({ kind: job.kind, payload: job.payload ?? null, ...optionsOf(job) })
  const isLong = isTooLong(body)
  const command = joinLines([
    `curl -sS -X POST ${quote(`${api}jobs`)}`,
    '-H "authorization: Bearer $JOBMILL_TOKEN"',
    "-H 'content-type: application/json'",
    isLong ? '--data-binary @-' : `--data-raw ${quote(body)}`,
  ])
  return isLong ? withInput(command, body) : command
}

export function asTypeScript({ kind, payload, ...options }: Like): string {
  const what = `${JSON.stringify(kind)}, ${source(payload)}, ${source(optionsOf(options))}`
  return `await mill.enqueue(${what})`
}

export function asCommand({ kind, payload, ...options }: Like): string {
  const { queue, priority, maxAttempts, timeout, tags = [], orderKey, group } = optionsOf(options)
  const words = [
    option('queue', queue),
    option('priority', String(priority)),
    option('max-attempts', String(maxAttempts)),
    ...(timeout === undefined ? [] : [option('timeout', `${timeout}ms`)]),
    ...tags.map((tag) => option('tag', tag)),
    ...(orderKey === undefined ? [] : [option('order-key', orderKey)]),
    ...(group === undefined ? [] : [option('group', group)]),
  ]
  const json = JSON.stringify(payload ?? null)
  if (isTooLong(json)) return withInput(joinLines([`jobmill enqueue ${quote(kind)} --stdin`, ...words]), json)
  // After --, so that a negative number is not parsed as an option.
  return joinLines([`jobmill enqueue ${words.join(' ')}`, `-- ${quote(kind)} ${quote(json)}`])
}

interface Options {
  readonly queue: string
  readonly priority: number
  readonly maxAttempts: number
  readonly timeout?: number
  readonly tags?: readonly string[]
  readonly orderKey?: string
  readonly group?: string
}

function optionsOf({
  queue,
  priority,
  maxAttempts,
  timeoutMs,
  tags,
  orderKey,
  group,
}: Omit<Like, 'kind' | 'payload'>): Options {
  return {
    queue,
    priority,
    maxAttempts,
    ...(timeoutMs !== null && { timeout: timeoutMs }),
    ...(tags.length > 0 && { tags }),
    ...(orderKey !== null && { orderKey }),
    ...(group !== null && { group }),
  }
}

/** JSON is valid source, except for two line separators and the key __proto__. */
function source(value: unknown): string {
  return JSON.stringify(value ?? null, null, 2)
    .replaceAll('\u2028', String.raw`\u2028`)
    .replaceAll('\u2029', String.raw`\u2029`)
    .replaceAll(/^(\s*)"__proto__":/gm, '$1["__proto__"]:')
}
