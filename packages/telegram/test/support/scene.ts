/** A gateway with a fake Telegram on one of the two stores. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { inject, vi } from 'vitest'
import { freshFile, freshSchema } from '../../../../test/support/databases.ts'
import type { Bot } from '../../src/bots/bot.ts'
import type { FakeChat, FakeTelegram, FakeTelegramOptions } from '../../src/fake/types.ts'
import { type Gateway, type GatewayOptions, readConfig, startGateway } from '../../src/index.ts'
import { PATIENCE_MS, patientTelegram } from './patient-telegram.ts'

export const STORES = ['sqlite', 'postgres'] as const
export type StoreName = (typeof STORES)[number]

/** A database for one test only. */
export function freshDatabase(store: StoreName): string {
  if (store === 'sqlite') return freshFile()
  const url = inject('postgresUrl')
  return `${url}?schema=${freshSchema(url, 'telegram')}`
}

/** A bot of the YAML, without its secrets. */
type BotYaml = Readonly<Record<string, unknown>>

export interface SceneOptions extends Omit<GatewayOptions, 'config'> {
  readonly store: StoreName | 'none'
  /** The database of another gateway, to share it. */
  readonly database?: string
  readonly telegram?: FakeTelegram
  readonly fake?: FakeTelegramOptions
  readonly bots: Readonly<Record<string, BotYaml>>
  readonly yaml?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
  /** The lease; may be shorter than the config allows. */
  readonly leaseMs?: number
  /** Bot ids by slug, to override the defaults. */
  readonly ids?: Readonly<Record<string, number>>
}

export interface Scene {
  readonly fake: FakeTelegram
  readonly gateway: Gateway
  readonly database: string
  readonly tokenOf: (slug: string) => string
  /** A private chat of a user with a bot; a new user by default. */
  readonly chat: (slug: string, id?: number) => FakeChat
  /** Sends a request to the webhook. */
  readonly post: (slug: string, body: unknown, options?: PostOptions) => Promise<Response>
  readonly stop: () => Promise<void>
}

interface PostOptions {
  readonly secret?: string | null
  readonly raw?: string
  readonly headers?: Readonly<Record<string, string>>
}

export const SECRET = 'a-secret-of-32-characters-or-more'
export const AUTH_SECRET = 'let-me-in-please'

const QUIET = { debug() {}, info() {}, warn() {}, error() {} }

let users = 1_000

/** The environment with the tokens and secrets of these bots. */
export function envOf(
  slugs: readonly string[],
  ids: Readonly<Record<string, number>> = {},
): Record<string, string> {
  return Object.fromEntries(
    slugs.flatMap((slug, n) => {
      const name = `BOT_${slug.toUpperCase().replaceAll('-', '_')}`
      return [
        [`${name}_TOKEN`, tokenFor(ids[slug] ?? 7_000 + n)],
        [`${name}_SECRET`, SECRET],
        [`${name}_HTTP_SECRET`, 'signs-what-is-sent'],
      ]
    }),
  )
}

function tokenFor(id: number): string {
  return `${id}:abcdefghijklmnop`
}

export async function scene(options: SceneOptions): Promise<Scene> {
  const { store, bots, yaml = {}, ids = {}, env = {}, telegram, fake: how, leaseMs, ...others } = options
  const { database: databaseOption, ...rest } = others
  const slugs = Object.keys(bots)
  const fake = telegram ?? (await patientTelegram({ retryScale: 0.02, ...how }))
  const tokens = new Map(slugs.map((slug, n) => [slug, tokenFor(ids[slug] ?? 7_000 + n)]))
  if (telegram === undefined)
    for (const [slug, token] of tokens) fake.addBot({ token, username: `${slug.replaceAll('-', '_')}_bot` })
  const database = databaseOption ?? (store === 'none' ? '' : freshDatabase(store))
  const { config, problems } = readConfig({
    // JSON is valid YAML.
    yaml: JSON.stringify({
      apiRoot: fake.url,
      listen: '127.0.0.1:0',
      admin: false,
      ...(store === 'none' ? { store: 'none' } : {}),
      ...yaml,
      bots,
    }),
    env: {
      ...envOf(slugs, ids),
      AUTH_SECRET,
      ...(store === 'none' ? {} : { DATABASE_URL: database }),
      ...env,
    },
    handlers: Object.keys(options.handlers ?? {}),
  })
  if (config === null) throw new Error(JSON.stringify(problems, null, 2))
  const gateway = await startGateway({
    log: QUIET,
    ...rest,
    config: leaseMs === undefined ? config : { ...config, leaseMs },
  })
  // The usernames arrive in the background.
  await vi.waitUntil(() => gateway.bots.every(isKnown), { timeout: PATIENCE_MS, interval: 5 })
  // The address is known only now.
  if (config.mode === 'webhook')
    await Promise.all(
      gateway.bots.map(({ slug, api }) =>
        api.setWebhook(`${gateway.url}/telegram/${slug}`, { secret_token: SECRET, max_connections: 100 }),
      ),
    )
  return {
    fake,
    gateway,
    database,
    tokenOf: (slug) => tokens.get(slug) ?? '',
    chat(slug, id = (users += 1)) {
      return fake.chat({ bot: tokens.get(slug) ?? '', id })
    },
    post: (slug, body, { secret = SECRET, raw, headers = {} } = {}) =>
      fetch(`${gateway.url}/telegram/${slug}`, {
        method: 'POST',
        body: raw ?? JSON.stringify(body),
        headers: {
          'content-type': 'application/json',
          // A keep-alive connection may be closed by the server just when it is reused.
          connection: 'close',
          ...(secret === null ? {} : { 'x-telegram-bot-api-secret-token': secret }),
          ...headers,
        },
      }),
    async stop() {
      await gateway.stop()
      if (options.telegram === undefined) await fake.close()
    },
  }
}

/** Whether the first contact with Telegram has ended, either way. */
const isKnown = ({ username, trouble }: Bot): boolean => username !== null || trouble !== null

let updates = 900_000

/** A message as Telegram posts it, with unknown fields. */
export function anUpdate(
  text: string,
  {
    userId = 77,
    chatId,
    updateId = (updates += 1),
  }: { userId?: number; chatId?: number; updateId?: number } = {},
) {
  const chat = chatId ?? userId
  return {
    update_id: updateId,
    message: {
      message_id: 5,
      from: { id: userId, is_bot: false, first_name: 'Ada', aura: 'blue' },
      chat: { id: chat, type: chat < 0 ? 'group' : 'private' },
      date: 1_700_000_000,
      text,
    },
    invented_yesterday: { deep: [1, { er: null }] },
  }
}

export interface Service {
  readonly url: string
  readonly requests: { readonly headers: IncomingMessage['headers']; readonly body: string }[]
  /** The next answers; the last one repeats. */
  answers: ((
    body: string,
  ) => { status?: number; body?: string; headers?: Record<string, string> } | 'never')[]
  readonly close: () => Promise<void>
}

/** A service that receives forwarded updates. */
export async function service(): Promise<Service> {
  const requests: Service['requests'] = []
  const server = createServer((request, response) => void take(request, response))
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    requests.push({ headers: request.headers, body })
    const answer = (made.answers.length > 1 ? made.answers.shift() : made.answers[0])?.(body) ?? {}
    if (answer === 'never') return
    response.writeHead(answer.status ?? 200, answer.headers).end(answer.body ?? '')
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const made: Service = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    answers: [],
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
  return made
}

/** The texts that the bot sent. */
export const saidBy = (chat: FakeChat): string[] =>
  chat.transcript().flatMap(({ by, text }) => (by === 'bot' ? [text] : []))
