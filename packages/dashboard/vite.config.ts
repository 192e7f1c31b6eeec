// How the page is put together: one folder of files that any server can hand out, under any path.
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react(), tailwind()],
  // Addresses that start where the page is; the server says where that is with <base>.
  base: './',
  build: {
    target: 'es2022',
    // The Content-Security-Policy allows no inline script and no inline image.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
})
