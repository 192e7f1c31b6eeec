/** What a gateway is told to be: read once at the start, checked as a whole, and never changed while it runs. */

export const HANDLERS = ['echo', 'http', 'auth', 'command', 'job'] as const

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** How a bot answers when a job of it fails: each wait belongs to one failed attempt, and the last one to all further ones. */
export interface RetryPolicy {
  readonly attempts: number
  readonly backoffMs: readonly number[]
  /** The share of a wait that chance may add or take away. */
  readonly jitter: number
}

/** `at-least-once`: a reply that may or may not have arrived is sent again. `at-most-once`: it is not. */
type Replies = 'at-least-once' | 'at-most-once'

interface Words {
  /** Null: nobody is told. */
  readonly dead: string | null
  /** To who needs a session and has none. */
  readonly prompt: string
}

export interface BotConfig {
  readonly slug: string
  readonly token: string
  /** The number in front of the token: what a bot is known by, whatever its slug. */
  readonly id: number
  /** The secrets that Telegram may send: the one that is set, and while it is being replaced the other one too. */
  readonly secrets: readonly string[]
  readonly handler: string
  readonly async: boolean
  readonly requireAuth: boolean
  /** Null: everybody may talk to it. */
  readonly allowedUsers: ReadonlySet<number> | null
  /** One update of a chat at a time, in their order. */
  readonly ordered: boolean
  readonly concurrency: number
  readonly retry: RetryPolicy
  readonly replies: Replies
  readonly words: Words
  readonly http: HttpTarget | null
  readonly command: CommandTarget | null
  readonly job: JobTarget | null
}

export interface HttpTarget {
  readonly url: string
  readonly timeoutMs: number
  /** Signs what is sent; null where nobody asked for that. */
  readonly secret: string | null
}

export interface CommandTarget {
  readonly argv: readonly string[]
  readonly timeoutMs: number
}

export interface JobTarget {
  readonly kind: string
  readonly queue: string | null
}

export interface AuthConfig {
  /** Opens sessions when it is typed, and keeps the hashes of one-time codes from being guessed. */
  readonly secret: string
  readonly ttlMs: number
  /** The bots that a session by the shared secret opens; `*` for all. */
  readonly scope: readonly string[]
}

export interface Address {
  readonly host: string
  readonly port: number
}

export interface SourcesConfig {
  readonly networks: readonly {
    readonly address: string
    readonly prefix: number
    readonly family: 'ipv4' | 'ipv6'
  }[]
  /** Of a proxy of our own, in small letters; null: the connection itself tells. */
  readonly header: string | null
}

export interface GatewayConfig {
  readonly bots: readonly BotConfig[]
  /** Where the jobs are; null for no database: then only synchronous bots work, and nothing survives a restart. */
  readonly database: string | null
  /** Where Telegram reaches us, without a path; null: nobody tells Telegram. */
  readonly publicUrl: string | null
  /** Polling asks Telegram instead of being called. */
  readonly mode: 'webhook' | 'polling'
  readonly listen: Address
  /** Mission Control and the metrics; null for none. */
  readonly admin: Address | null
  readonly apiRoot: string
  /** The least that the command writes to its log. */
  readonly logLevel: (typeof LOG_LEVELS)[number]
  readonly auth: AuthConfig | null
  readonly dedupeMs: number
  readonly maxBodyBytes: number
  /** Null: from anywhere, with the secret. */
  readonly sources: SourcesConfig | null
  /** Null: for ever. */
  readonly retention: {
    readonly doneMs: number | null
    readonly deadMs: number | null
    readonly everyMs: number
  }
  /** Null: the library's. */
  readonly leaseMs: number | null
}

/** One thing that is wrong, or odd. */
export interface Problem {
  readonly level: 'error' | 'warning'
  /** Where: `bots.factory.handler (line 4)`, or the name of a variable. */
  readonly place: string
  readonly problem: string
  readonly fix: string
}
