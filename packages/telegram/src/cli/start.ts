/** Starts the gateway and runs it until a signal stops it. */
import { stopOnSignals } from 'jobmill'
import { EXIT, ignoreOutputErrors } from 'jobmill/cli'
import { type Gateway, startGateway } from '../gateway.ts'
import { type Command, type Io, withConfig } from './command.ts'

export const start: Command = {
  words: 'start',
  says: 'run the gateway until a signal stops it (a second signal stops it immediately)',
  options: {
    poll: { says: 'poll Telegram for updates instead of receiving webhooks' },
  },
  run: withConfig(async ({ config, tokens }, given, io) => {
    // A log collector that restarts must not end the gateway.
    ignoreOutputErrors()
    const mode = given.has('poll') ? 'polling' : config.mode
    const gateway = await startGateway({
      config: { ...config, mode },
      log: config.logLevel,
      admin: tokens === undefined ? {} : { tokens },
    })
    const lines = [
      `jobmill-telegram listens at ${gateway.url}`,
      ...(gateway.adminUrl === null ? [] : [`Mission Control   ${gateway.adminUrl}`]),
      `database          ${config.database === null ? 'none (nothing survives a restart)' : gateway.mill.storeName}`,
      ...gateway.bots.map(
        ({ slug, handler, async, requireAuth }) =>
          `bot ${slug.padEnd(13)} ${handler}${async ? ', async' : ''}${requireAuth ? ', login required' : ''}`,
      ),
      mode === 'polling'
        ? 'polling Telegram for updates'
        : config.publicUrl === null
          ? 'publicUrl is not set: set the webhooks at Telegram yourself, or start with --poll'
          : `Telegram sends updates to ${config.publicUrl}/telegram/…`,
    ]
    io.out(lines.join('\n'))
    await untilStopped(gateway, io)
    io.out('stopped')
    return EXIT.done
  }),
}

function untilStopped(gateway: Gateway, io: Io): Promise<void> {
  return new Promise((resolve, reject) => {
    stopOnSignals(
      {
        stop({ grace }) {
          if (grace === undefined)
            io.out('stopping: waiting for running jobs to finish (press Ctrl+C again to stop immediately)')
          else {
            io.out('stopping immediately: running jobs are interrupted and retried at the next start')
            gateway.hurry()
          }
          return gateway.stop()
        },
      },
      { stopped: () => resolve(), failed: reject },
    )
  })
}
