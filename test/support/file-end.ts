// What is to be done when a test file ends. Not by a hook of whoever makes something: a module that several files of a process share is loaded for the first
// of them only, and so would its hook be.
type End = () => Promise<void>

let ends = new Set<End>()

/** Once for each file, however often it is said. */
export function atFileEnd(end: End): void {
  ends.add(end)
}

/** Called by the setup of every file, after the hooks of the file itself. */
export async function endFile(): Promise<void> {
  const all = [...ends]
  ends = new Set()
  for (const end of all) await end()
}
