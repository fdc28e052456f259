/** The bundle loads the files behind a door of a library, and not all that the door lists. */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { build } from 'esbuild'
import { filesBehind, openDoors } from '../../.ci/open-doors.ts'
import { temporaryFolder } from './git-remotes.ts'

/** A repository with the library `lib`. */
function repositoryOf(files: Readonly<Record<string, string>>): string {
  const root = temporaryFolder()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

const LIBRARY = {
  'src/lib/names.ts': `export {\n  one,\n  type One,\n} from './deep/one.ts'\nexport { two } from './deep/two.ts'\n`,
  'src/lib/own.ts': 'export const own = 1\n',
  'src/lib/deep/one.ts': `export type One = string\nexport const one = 'only this'\n`,
  'src/lib/deep/two.ts': `export const two = 'and not that'\n`,
}

async function bundled(main: string): Promise<string> {
  const root = repositoryOf({ ...LIBRARY, 'src/main.ts': main })
  const { outputFiles } = await build({
    entryPoints: [join(root, 'src/main.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    // What is loaded counts, and not what is left of it.
    treeShaking: false,
    external: ['@backporch/*'],
    plugins: [openDoors(root)],
  })
  return outputFiles.map(({ text }) => text).join('')
}

test('loads only the file of each imported name, for imports on one or several lines', async () => {
  const lines = `import {\n  one,\n  type One,\n} from '@backporch/lib/names'\nexport const value: One = one\n`
  for (const main of [lines, `import { one } from '@backporch/lib/names'\nexport { one }\n`]) {
    const text = await bundled(main)
    assert.match(text, /only this/)
    assert.doesNotMatch(text, /and not that|@backporch/)
  }
})

test('keeps the import of an export file with code of its own', async () => {
  assert.match(
    await bundled(`import { own } from '@backporch/lib/own'\nexport { own }\n`),
    /from "@backporch\/lib\/own"/,
  )
})

test('finds the files behind an export by the names that it lists', () => {
  const root = repositoryOf(LIBRARY)
  const files = filesBehind(root, 'lib/names')
  assert.deepEqual(
    [...files].map(([name, file]) => [name, file.slice(root.length)]),
    [
      ['one', '/src/lib/deep/one.ts'],
      ['One', '/src/lib/deep/one.ts'],
      ['two', '/src/lib/deep/two.ts'],
    ],
  )
  assert.equal(filesBehind(root, 'lib/gone').size, 0)
})
