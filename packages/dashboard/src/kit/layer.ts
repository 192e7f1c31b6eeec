/** Where tooltips and menus are put: into the dialog that they belong to, which covers everything outside of it, or into the page. */
import { createContext, useContext } from 'react'

export const Layer = createContext<HTMLElement | null>(null)

export const useLayer = (): HTMLElement | null => useContext(Layer)
