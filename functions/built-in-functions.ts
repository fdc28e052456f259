/** The functions of `functions/`, and which releases of which image each of them stands for (docs/facts/function-images.md). */

import type { FunctionLibrary } from '../src/render/answer-calls.ts'
import { type KrmFunction, succeeded } from '../src/render/kpt/krm-function.ts'
import type { BuiltIn, BuiltIns } from '../src/render/runtimes/choose-release.ts'
import { chooseRuntime, NOTHING_ALLOWED } from '../src/render/runtimes/choose-runtime.ts'
import type { ReleaseVersion } from '../src/render/runtimes/release-version.ts'
import { adoptDrift } from './adopt-drift/fn.ts'
import { applyReplacements } from './apply-replacements/fn.ts'
import { applySetters } from './apply-setters/fn.ts'
import { createSetters } from './create-setters/fn.ts'
import { ensureNameSubstring } from './ensure-name-substring/fn.ts'
import type { FunctionName } from './inverses.ts'
import { kubeconform } from './kubeconform/fn.ts'
import { searchReplace } from './search-replace/fn.ts'
import { setAnnotations } from './set-annotations/fn.ts'
import { setImage } from './set-image/fn.ts'
import { setLabels } from './set-labels/fn.ts'
import { setNamespace, setNamespaceOfAnyOrigin, setNamespaceOfNamedServices } from './set-namespace/fn.ts'
import { upsertResource } from './upsert-resource/fn.ts'

/** One behaviour in all releases from one on, up to the next minor version. */
function since(from: ReleaseVersion, run: KrmFunction, newest: ReleaseVersion, last: ReleaseVersion | undefined): BuiltIn {
  return { variants: [{ from, below: [from[0], from[1] + 1, 0], run }], newest, last }
}

/** A function of ours about drift, which a Kptfile names by `exec`: the catalog has no image of it, so no release is it. */
function ofOurs(run: KrmFunction): BuiltIn {
  return { variants: [{ from: [0, 0, 0], below: [0, 0, 0], run }], newest: [0, 0, 0], last: undefined }
}

/** A gate that drift has shut, or a record that is not good, would otherwise keep the package from being compared and decided about. */
const passedOver: KrmFunction = ({ items }) => succeeded(items)

const FUNCTIONS: { readonly [name in FunctionName]: BuiltIn } = {
  // Later releases copy the quotes of the source, and with them the type of a value.
  'apply-replacements': { variants: [{ from: [0, 1, 1], below: [0, 1, 2], run: applyReplacements }], newest: [0, 1, 5], last: [0, 1, 1] },
  'apply-setters': since([0, 2, 0], applySetters, [0, 2, 1], [0, 2, 0]),
  'create-setters': since([0, 1, 0], createSetters, [0, 1, 0], [0, 1, 0]),
  'ensure-name-substring': since([0, 2, 5], ensureNameSubstring, [0, 2, 5], [0, 2, 0]),
  kubeconform: since([0, 1, 0], kubeconform, [0, 1, 2], undefined),
  'search-replace': since([0, 2, 0], searchReplace, [0, 2, 1], [0, 2, 0]),
  'set-annotations': since([0, 1, 4], setAnnotations, [0, 1, 5], [0, 1, 4]),
  // Later releases set init containers too.
  'set-image': { variants: [{ from: [0, 1, 0], below: [0, 1, 3], run: setImage }], newest: [0, 1, 3], last: [0, 1, 1] },
  'set-labels': since([0, 2, 0], setLabels, [0, 2, 2], [0, 2, 0]),
  'set-namespace': {
    variants: [
      { from: [0, 4, 1], below: [0, 4, 2], run: setNamespace },
      { from: [0, 4, 2], below: [0, 4, 6], run: setNamespaceOfAnyOrigin },
      { from: [0, 4, 6], below: [0, 5, 0], run: setNamespaceOfNamedServices },
    ],
    newest: [0, 4, 6],
    last: [0, 4, 1],
  },
  'upsert-resource': since([0, 2, 0], upsertResource, [0, 2, 1], [0, 2, 0]),
  'adopt-drift': ofOurs(adoptDrift({ answer: (call) => builtInFunctions.answer(call) })),
  'gate-drift': ofOurs(passedOver),
  'verify-drift-records': ofOurs(passedOver),
}

export const BUILT_IN: BuiltIns = new Map(Object.entries(FUNCTIONS))

export const builtInFunctions: FunctionLibrary = {
  answer: ({ step, input }) => {
    const chosen = chooseRuntime(step, NOTHING_ALLOWED, BUILT_IN)
    if (chosen.is === 'built-in') return chosen.run(input)
    if (chosen.is === 'refused') return { failure: chosen.failure }
    throw new TypeError('nothing but what is built in is allowed')
  },
}
