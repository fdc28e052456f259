import { BUILT, convertToFilesRead } from '../build/build-unit.ts'
import type { RenderChoice } from '../build/render-choice.ts'
import type { Source } from '../build/source.ts'
import { BUILT_EDITOR } from '../place/built-editor.ts'
import { joinFolderPath } from './files/kustomization-walk.ts'
import { KUSTOMIZE_TOOL } from './kustomize-tool.ts'
import { readKustomization } from './read-kustomization.ts'

export const KUSTOMIZE: Source<Extract<RenderChoice, { readonly tool: 'kustomize' }>> = {
  ...BUILT,
  discover: 'none',
  describe: ({ tool, path }) => {
    const title = path === '' ? tool : `${tool} ${path}`
    return {
      title,
      how: `with ${title}`,
      key: [tool, path],
      kubectl: { kustomization: path },
      reads: 'named files',
    }
  },
  policy: {
    allowed: ['path'],
    required: [],
    choiceOf: ({ path }) => ({ tool: 'kustomize', path }),
  },
  filesRead: async (commit, { packagePath, files, choice }, signal) => {
    const folder = choice.path === '' ? packagePath : joinFolderPath(packagePath, choice.path)
    const walked = await readKustomization(commit, folder, signal)
    const source = {
      packagePath,
      package: files,
      tool: KUSTOMIZE_TOOL,
      folder,
      files: walked.files,
      command: [],
    }
    return convertToFilesRead({ source, failures: walked.failures })
  },
  edit: BUILT_EDITOR,
}
