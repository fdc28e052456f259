export {
  formatHtmlCode,
  formatMarkdownBlock,
  formatMarkdownCell,
  formatMarkdownCode,
  formatMarkdownLink,
  formatMarkdownProse,
} from './text/markdown-text.ts'
