import { isReadOf } from '@backporch/kpt/package'
import type { RenderChoice } from '../build/render-choice.ts'
import type { Source } from '../build/source.ts'
import { renderAsFiles } from '../kpt/render/render-package.ts'
import { joinFolderPath } from '../kustomize/files/kustomization-walk.ts'
import { createFilesEditor } from '../place/files-editor.ts'

export const FILES: Source<Extract<RenderChoice, { readonly tool: 'files' }>> = {
  discover: 'none',
  describe: ({ tool }) => ({
    title: tool,
    how: 'from its files as they are',
    key: [tool],
    kubectl: 'files',
    reads: 'manifests',
  }),
  policy: { allowed: [], required: [], choiceOf: () => ({ tool: 'files' }) },
  filesRead: async (_commit, { packagePath, files }) => ({
    source: undefined,
    paths: new Set(
      files
        .filter(({ path }) => isReadOf(path))
        .map(({ path }) => joinFolderPath(packagePath, path)),
    ),
    failures: [],
  }),
  build: async (_renderer, { packagePath, files }) => renderAsFiles(packagePath, files),
  originOf: () => () => [],
  edit: createFilesEditor(({ packagePath }, files) => {
    const rendering = renderAsFiles(packagePath, files)
    if ('failures' in rendering) throw rendering.failures[0]
    return rendering
  }),
}
