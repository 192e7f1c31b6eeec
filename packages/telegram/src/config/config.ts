/**
 * The types of the gateway's config. It is read once at the start, validated as a whole, and never changed.
 */

export const HANDLERS = ['echo', 'http', 'auth', 'command', 'job'] as const

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

export interface BotConfig {
  readonly slug: string
  readonly token: string
  /** The number at the start of the token. It identifies a bot, whatever its slug. */
  readonly id: number
  /** The secrets that Telegram may send: the current one and, during a rotation, the old one. */
  readonly secrets: readonly string[]
  readonly handler: string
  readonly async: boolean
  readonly requireAuth: boolean
  /** Null: everyone may use the bot. */
  readonly allowedUsers: ReadonlySet<number> | null
  /** Runs the updates of a chat one at a time, in order. */
  readonly ordered: boolean
  readonly concurrency: number
  /**
   * How the bot retries an update. The nth wait follows the nth failed attempt; the last wait is used for all
   * later attempts.
   */
  readonly retry: {
    readonly attempts: number
    readonly backoffMs: readonly number[]
    /** The largest share of a wait that is randomly added or subtracted. */
    readonly jitter: number
  }
  /** `at-least-once`: a reply that may have arrived is sent again. `at-most-once`: it is not. */
  readonly replies: 'at-least-once' | 'at-most-once'
  readonly words: {
    /** The notice for a permanently failed update; null for none. */
    readonly dead: string | null
    /** The text for users without a session. */
    readonly prompt: string
  }
  readonly http: HttpTarget | null
  readonly command: CommandTarget | null
  readonly job: JobTarget | null
}

export interface HttpTarget {
  readonly url: string
  readonly timeoutMs: number
  /** The key that signs requests; null if they are not signed. */
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
  /** The shared secret that opens sessions. It also keys the hashes of one-time codes. */
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
  /** The header that a trusted proxy sets, in lower case. Null: use the address of the connection. */
  readonly header: string | null
}

export interface GatewayConfig {
  readonly bots: readonly BotConfig[]
  /**
   * The database URL or file. Null for none: only synchronous bots work, and nothing survives a restart.
   */
  readonly database: string | null
  /**
   * The URL by which Telegram reaches the gateway, without `/telegram/…`. Null: the operator sets the
   * webhooks.
   */
  readonly publicUrl: string | null
  /** In polling mode the gateway fetches the updates. */
  readonly mode: 'webhook' | 'polling'
  readonly listen: Address
  /** The address of Mission Control and metrics; null for none. */
  readonly admin: Address | null
  readonly apiRoot: string
  /** The lowest level that the command logs. */
  readonly logLevel: (typeof LOG_LEVELS)[number]
  readonly auth: AuthConfig | null
  readonly dedupeMs: number
  readonly maxBodyBytes: number
  /** Null: accept webhooks from any address, with the secret. */
  readonly sources: SourcesConfig | null
  /** Null: keep forever. */
  readonly retention: {
    readonly doneMs: number | null
    readonly deadMs: number | null
    readonly everyMs: number
  }
  /** Null: use the library's default. */
  readonly leaseMs: number | null
}

/** One error or warning in the config. */
export interface Problem {
  readonly level: 'error' | 'warning'
  /** The location, such as `bots.factory.handler (line 4)`, or the name of a variable. */
  readonly place: string
  readonly problem: string
  readonly fix: string
}
