/** What kpt's rendering makes of a package that is given by its texts, links and submodules. */
import assert from 'node:assert/strict'
import { answerCalls, NO_FUNCTIONS } from '@backporch/kpt/function'
import { type Failure, formatFailure } from '@backporch/kyaml/failure'
import type { FileMode, PackageFiles } from '@backporch/kyaml/files'
import {
  type RenderedPackage,
  type Rendering,
  renderPackage,
} from '../../src/sources/kpt/render/render-package.ts'

export const KPTFILE = 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n'

interface Special {
  readonly mode: FileMode
  readonly text?: string
}

function packageFiles(files: { readonly [path: string]: string | Special }): PackageFiles {
  const given: { readonly [path: string]: string | Special } = { Kptfile: KPTFILE, ...files }
  const all = Object.entries(given).map(([path, file]) => {
    const { mode, text } =
      typeof file === 'string'
        ? { mode: '100644' as const, text: file }
        : { mode: file.mode, text: file.text ?? '' }
    return { path, mode, content: new TextEncoder().encode(text) }
  })
  return all.sort((a, b) => (a.path < b.path ? -1 : 1))
}

function rendering(
  files: { readonly [path: string]: string | Special },
  path = 'apps/web',
): Rendering {
  return answerCalls(renderPackage(path, packageFiles(files)), NO_FUNCTIONS)
}

export function render(
  files: { readonly [path: string]: string | Special },
  path = 'apps/web',
): RenderedPackage {
  const result = rendering(files, path)
  return 'failures' in result ? assert.fail(result.failures.map(formatFailure).join('\n')) : result
}

export function failures(
  files: { readonly [path: string]: string | Special },
  path = 'apps/web',
): readonly Failure[] {
  const result = rendering(files, path)
  return 'failures' in result ? result.failures : []
}
