// Runs cleanup at the end of a test file. A hook in the module that creates something would not work: files
// that share a process load a module once, so its hook would run for the first file only.
type End = () => Promise<void>

let ends = new Set<End>()

/** Runs `end` once per file, however often it is registered. */
export function atFileEnd(end: End): void {
  ends.add(end)
}

/** The setup of every file calls this after the hooks of the file. */
export async function endFile(): Promise<void> {
  const all = [...ends]
  ends = new Set()
  for (const end of all) await end()
}
