/** Runs a Node program in a folder until it ends. */
import { spawn } from 'node:child_process'

export interface Ran {
  readonly code: number | null
  /** The output of both streams. */
  readonly output: string
}

export async function run(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const child = spawn(process.execPath, args, { cwd: folder, env: { ...process.env, ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (output += part))
  const code = await new Promise<number | null>((resolve) => void child.on('close', resolve))
  return { code, output }
}
