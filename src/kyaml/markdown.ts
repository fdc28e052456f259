/** Texts of others in Markdown, where they stay text. */
export {
  htmlCode,
  markdownBlock,
  markdownCell,
  markdownCode,
  markdownLink,
  markdownProse,
} from './text/markdown-text.ts'
