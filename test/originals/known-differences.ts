/** Inputs of which a built-in function makes something else than the original, on purpose. */
export interface KnownDifference {
  readonly releases: readonly string[]
  /** `refused`: the package is not rendered, so that nothing is reported that is not so. `rendered`: it is, and the reason says why that is right. */
  readonly ours: 'refused' | 'rendered'
  readonly why: string
  /** Numbers of the inputs. */
  readonly inputs: readonly number[]
}

/** By function. */
export const KNOWN_DIFFERENCES: { readonly [name: string]: readonly KnownDifference[] } = {
  'search-replace': [
    {
      releases: ['v0.1.0', 'v0.1.1', 'v0.2.0'],
      ours: 'rendered',
      why: 'of a put-comment of several lines on the last item of a list, the original prints the later lines deeper, so that kpt keeps an empty line behind them; no value differs',
      inputs: [49],
    },
  ],
  'generate-folders': [
    {
      releases: ['v0.1.1'],
      ours: 'refused',
      why: 'a date in a hierarchy is a text in the time zone of the machine to the original',
      inputs: [370, 371],
    },
  ],
  'set-label': [
    {
      releases: ['v0.1.2'],
      ours: 'refused',
      why: 'a field of the config has an empty path, to which the original writes labels without a name',
      inputs: [346, 347],
    },
  ],
}
