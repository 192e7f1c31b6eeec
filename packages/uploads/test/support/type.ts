/** Runs a command line in this process. */
import { run } from '../../src/cli/run.ts'

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export async function type(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const said = { out: '', err: '' }
  const code = await run(args, {
    out: (line) => void (said.out += `${line}\n`),
    err: (line) => void (said.err += `${line}\n`),
    env,
  })
  return { code, ...said }
}
