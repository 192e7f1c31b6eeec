/** Runs a command line in this process. */
import { run } from '../../src/cli/run.ts'

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export async function type(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const output = { out: '', err: '' }
  const code = await run(args, {
    out: (line) => void (output.out += `${line}\n`),
    err: (line) => void (output.err += `${line}\n`),
    env,
  })
  return { code, ...output }
}
