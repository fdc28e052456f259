import { answerCalls } from '@backporch/kpt/function'
import { isReadOf } from '@backporch/kpt/package'
import type { PackageFiles } from '@backporch/kyaml/files'
import type { RenderChoice } from '../build/render-choice.ts'
import type { EditInput, Source } from '../build/source.ts'
import { joinFolderPath } from '../kustomize/files/kustomization-walk.ts'
import { createFileChange, createFilesEditor, placeInFiles } from '../place/files-editor.ts'
import { adoptThroughPipeline, listAdoptionProblems } from './adopt/adoption.ts'
import { FieldOrigins, formatFieldOriginLines } from './adopt/field-origin.ts'
import { type RenderedPackage, renderPackage } from './render/render-package.ts'

const FILES = createFilesEditor(renderEdited)

export const KPT: Source<Extract<RenderChoice, { readonly tool: 'kpt' }>> = {
  discover: 'none',
  describe: ({ tool }) => ({
    title: tool,
    how: `with ${tool}`,
    key: [tool],
    kubectl: 'rendered files',
    reads: 'manifests',
  }),
  policy: { allowed: [], required: [], choiceOf: () => ({ tool: 'kpt' }) },
  filesRead: async (_commit, { packagePath, files }) => ({
    source: undefined,
    paths: new Set(
      files
        .filter(({ path }) => isReadOf(path))
        .map(({ path }) => joinFolderPath(packagePath, path)),
    ),
    failures: [],
  }),
  build: (renderer, { packagePath, files }, _read, signal) =>
    renderer.render(packagePath, files, signal),
  originOf: (unit) => {
    const origins = new FieldOrigins(unit)
    return (desired, path) => {
      const origin = origins.findOrigin(desired, path)
      return origin === undefined ? [] : formatFieldOriginLines(origin)
    }
  },
  edit: {
    apply: (input) => {
      if (!input.pipeline) return FILES.apply(input)
      const { texts, notes } = adoptThroughPipeline(input)
      return { changes: [...texts].map(([path, text]) => createFileChange(path, text)), notes }
    },
    place: (input, edited) => placeInFiles(input, edited, renderEdited),
    problems: (input) => (input.pipeline ? listAdoptionProblems(input) : FILES.problems(input)),
  },
}

function renderEdited({ packagePath, functions }: EditInput, files: PackageFiles): RenderedPackage {
  const rendering = answerCalls(renderPackage(packagePath, files, { attributed: false }), functions)
  if ('failures' in rendering) throw rendering.failures[0]
  return rendering
}
