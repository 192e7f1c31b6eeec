/** What a command needs of the outside: lines to write, and signals to hear. */
export interface Terminal {
  out(line: string): void
  err(line: string): void
}

export const terminal: Terminal = {
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
}
