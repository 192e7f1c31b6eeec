/** Sends the text back. */
import type { Handler } from './handler.ts'

export const echo: Handler = ({ text, reply }) => reply(text)
