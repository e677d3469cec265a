import { expect, test } from 'vitest'
import { pageShape } from './page-shape.ts'

test('pages that one template makes have one shape', () => {
  const shapes = [
    ['http://a.example/', 'a.example/'],
    ['http://a.example:8080/about', 'a.example:8080/about'],
    ['http://a.example/products/17', 'a.example/products/#'],
    ['http://a.example/products/blue-shirt-17.html', 'a.example/products/*.html'],
    ['http://a.example/products/Shirt.html', 'a.example/products/*.html'],
    ['http://a.example/en/product/17/reviews/', 'a.example/en/product/#/reviews/'],
    ['http://a.example/page12', 'a.example/page#'],
    ['http://a.example/how-to-sew-a-shirt', 'a.example/*'],
    ['http://a.example/how-to-sew-a-shirt/comments/', 'a.example/*/comments/'],
    ['http://a.example/list?page=2&sort=price', 'a.example/list?page&sort'],
    ['http://a.example/list?sort=name&page=3', 'a.example/list?page&sort'],
    ['http://a.example/%D1%8F/1', 'a.example/*/#'],
  ]
  for (const [url, shape] of shapes) expect(pageShape(url!), url).toBe(shape)
})
