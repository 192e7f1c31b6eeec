/** The end of a process with commands. By exit, since a handler that ignores its signal must not keep the process alive after the stop. */

/** What nobody has read by then would be lost with the process: a pipe takes little at once. */
export async function endWith(code: number): Promise<never> {
  await Promise.all([process.stdout, process.stderr].map(written))
  process.exit(code)
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    // Whoever read has gone.
    stream.once('error', () => resolve())
    stream.write('', () => resolve())
  })
}
