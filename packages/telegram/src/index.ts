/** `jobmill-telegram`: the gateway as a library. The command `jobmill-telegram` is made of it. */
export type { BotConfig, GatewayConfig, Problem } from './config/config.ts'
export { readConfig, type ConfigSources, type ReadConfig } from './config/read-config.ts'
export { type Gateway, type GatewayOptions, startGateway } from './gateway.ts'
export { signature } from './handlers/http.ts'
export type { TelegramUpdate } from './handlers/job.ts'
export type { FollowUp, Handler, HandlerContext, Reply } from './handlers/handler.ts'
export { reply, type ReplyTo } from './work/reply.ts'
export { FAULT_POINTS, type Fault, type FaultPoint } from './work/fault.ts'
