/** What a program gives a gateway that is started in it. */
import type { LogOption, Platform } from 'jobmill'
import type { ServeOptions } from 'jobmill/http'
import type { GatewayConfig } from './config/config.ts'
import type { Handler } from './handlers/handler.ts'
import type { Fault } from './work/fault.ts'

export interface GatewayOptions {
  readonly config: GatewayConfig
  /** Handlers of your own, which a bot names in the config. */
  readonly handlers?: Readonly<Record<string, Handler>>
  /** Who may look at Mission Control, as for `serve` of jobmill/http. */
  readonly admin?: Pick<ServeOptions, 'tokens' | 'whoIs' | 'insecure'>
  /** As `log` of `jobmill()` (default none). */
  readonly log?: LogOption
  /** For tests. */
  readonly fault?: Fault
  readonly random?: () => number
  /** The clock of the process is in it; that of the database is the database's. */
  readonly platform?: Platform
  /** How long the handler of a synchronous bot may take (default 30 s). */
  readonly handlerMs?: number
}
