/**
 * At most `width` items are processed at a time. Answers are in item order; the first error ends
 * it.
 */
export async function mapConcurrent<Item, Answer>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<Answer>,
): Promise<Answer[]> {
  const answers = new Array<Answer>(items.length)
  let next = 0
  async function worker(): Promise<void> {
    while (next < items.length) {
      const at = next
      next += 1
      answers[at] = await work(items[at] as Item)
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker))
  return answers
}
